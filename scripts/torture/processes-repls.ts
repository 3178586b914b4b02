import { createFixtureProject } from "../../test/fixture-project.ts";
import { type ServedProject, serveProject } from "./processes-server.ts";
import type { Report, Torture } from "./report.ts";

interface Exchange {
  readonly text?: string;
  readonly keys?: readonly string[];
  readonly resize?: { readonly cols: number; readonly rows: number };
  /** The expected output; it does not occur in the typed text, which the terminal echoes. */
  readonly answer: string;
}

interface Repl {
  readonly command: readonly [string, ...string[]];
  readonly prompt: string;
  /** The n-th of any number of exchanges. */
  exchange(n: number): Exchange;
  readonly bye: Exchange;
}

const SIZE = { cols: 100, rows: 30 };
const PATIENCE_MS = 10_000;

const REPLS: readonly Repl[] = [
  {
    command: ["node", "--interactive"],
    prompt: "> ",
    exchange: (n) => cycle(n, [sum("", n), NODE_THROW, NODE_INTERRUPT]),
    bye: { keys: ["ctrl-d"], answer: "" },
  },
  {
    command: ["python3", "-q"],
    prompt: ">>> ",
    exchange: (n) => cycle(n, [sum("", n), PYTHON_RAISE, PYTHON_INTERRUPT]),
    bye: { keys: ["ctrl-d"], answer: "" },
  },
  {
    command: ["bash", "--norc", "--noprofile", "-i"],
    prompt: "$ |# ",
    exchange: (n) => SHELL[n % SHELL.length]!,
    bye: { text: "exit\n", answer: "exit" },
  },
];

const cycle = (n: number, all: readonly Exchange[]): Exchange => all[n % all.length]!;
const sum = (prefix: string, n: number): Exchange => ({
  text: `${prefix}${n} + 1000000\n`,
  answer: String(n + 1_000_000),
});
const NODE_THROW: Exchange = { text: "throw new Error('a' + 'b')\n", answer: "Uncaught Error: ab" };
const NODE_INTERRUPT: Exchange = { text: "while (true) {}\n", keys: ["ctrl-c"], answer: "interrupted" };
const PYTHON_RAISE: Exchange = { text: "raise KeyError('a' + 'b')\n", answer: "KeyError: 'ab'" };
const PYTHON_INTERRUPT: Exchange = {
  text: "import time; time.sleep(100)\n",
  keys: ["ctrl-c"],
  answer: "KeyboardInterrupt",
};

/** One round of job control: each step depends on the previous ones. */
const SHELL: readonly Exchange[] = [
  { text: "echo $((6 * 7000))\n", answer: "42000" },
  { resize: { cols: 77, rows: 33 }, text: "stty size\n", answer: "33 77" },
  { text: "sleep 1000 &\n", answer: "[1] " },
  { text: "jobs\n", answer: "Running" },
  { text: "fg\n", keys: ["ctrl-z"], answer: "Stopped" },
  { text: "bg %1\n", answer: "[1]+ sleep" },
  { text: "kill %1; wait; echo w$((1))d\n", answer: "w1d" },
  { text: "sleep 1000\n", keys: ["ctrl-c"], answer: "^C" },
  { text: "echo s$((129 + 1)): $?\n", answer: "s130: 130" },
  { text: "tty | cut -c 1-5\n", answer: "/dev/" },
];

/** Talks to node, python3 and a shell with job control, this many exchanges each. */
export const repls: Torture = async (count, _random, onProgress) => {
  using project = createFixtureProject();
  await using server = await serveProject(project);
  const violations: string[] = [];
  const facts: string[] = [];
  for (const repl of REPLS) {
    const [program] = repl.command;
    const found = await server.data("proc", "exec", { command: `command -v ${program}` });
    if (found.exit_code !== 0) {
      facts.push(`${program} is not here`);
      continue;
    }
    const start = performance.now();
    violations.push(...(await talk(server, repl, count)).map((what) => `${program}: ${what}`));
    facts.push(`${program} ${((performance.now() - start) / 1_000).toFixed(1)} s`);
  }
  onProgress(count);
  return {
    what: `${count} exchanges with each REPL`,
    facts: facts.join(", "),
    violations,
  } satisfies Report;
};

async function talk(server: ServedProject, repl: Repl, count: number): Promise<readonly string[]> {
  const { command, prompt, bye } = repl;
  const started = await server.data("proc", "exec", { command, pty: SIZE, wait_for: { pattern: prompt } });
  const { proc_id } = started;
  if (!started.ready) return [`no prompt: ${JSON.stringify(started.stdout)}`];
  for (let n = 0; n < count; n++) {
    const exchange = repl.exchange(n);
    const said = await say(server, proc_id, exchange);
    if (!said.includes(exchange.answer))
      return [`${JSON.stringify(exchange)} was answered with ${JSON.stringify(said)}`];
  }
  await say(server, proc_id, bye);
  const { data, error } = await server.call("proc", "logs", {
    proc_id,
    follow: true,
    since: 1e9,
    wait: PATIENCE_MS,
  });
  return data?.status === "exited" ? [] : [`after its end it is ${data?.status ?? error?.code}`];
}

/** Types the text, then the keys once the program is working, and returns all output. */
async function say(server: ServedProject, proc_id: string, { text, keys, resize, answer }: Exchange) {
  const wait_for = answer === "" ? undefined : { pattern: answer };
  if (!keys || !text) {
    const said = await server.data("proc", "input", {
      proc_id,
      text,
      keys,
      resize,
      wait_for,
      wait: PATIENCE_MS,
    });
    return said.stdout as string;
  }
  const typed = await server.data("proc", "input", { proc_id, text, resize, wait: SETTLE_MS });
  const pressed = await server.data("proc", "input", { proc_id, keys, wait_for, wait: PATIENCE_MS });
  return `${typed.stdout}${pressed.stdout}`;
}

/** A program needs a moment before a key can interrupt it. */
const SETTLE_MS = 300;
