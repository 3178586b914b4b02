import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type IPty, spawn } from "@lydell/node-pty";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { providerEnvironment } from "../../eval/agent-environment.ts";
import type { Case } from "../case.ts";
import { layOutInstall } from "../install.ts";
import { toSpread } from "../measure.ts";
import { atMost, type Bar, type Row } from "../row.ts";

const STARTS = 5;
const READY = "ask, or / for commands";
const TOKENS = 20_000;
const TOKENS_PER_SECOND = 2_000;
const CHARS_PER_TOKEN = 4;
/** The scripted provider streams pieces of this length. */
const CHARS_PER_EVENT = 7;
const ECHO_EVERY_MS = 100;
/** None of them is in the text, and none twice in a row: tmux sends only what has changed. */
const KEYS = "αβγδεζηθικλμνξοπρστυφχψω";
const BEGIN_FRAME = "\x1b[?2026h";

/** The agent on a terminal of 120 by 40: start, stream, keys. */
export const terminal: readonly Case[] = [
  { name: "terminal: start", run: () => start("ms") },
  { name: "terminal: start CPU", run: () => start("CPU s") },
  { name: "terminal: memory", run: () => start("MB") },
  { name: "terminal: stream CPU", run: () => stream("% of a core") },
  { name: "terminal: stream frame", run: () => stream("kB") },
  { name: "terminal: key echo", run: () => stream("echo ms") },
  { name: "terminal: loop lag", run: () => stream("lag ms") },
];

const START_BARS = { ms: atMost(500), "CPU s": atMost(0.4), MB: atMost(110) } as const;
const STREAM_BARS = {
  "% of a core": atMost(15),
  kB: atMost(5),
  "echo ms": atMost(50),
  "lag ms": atMost(50),
} as const;

/** From the start of `octant` to a prompt that accepts keys. */
async function start(unit: keyof typeof START_BARS): Promise<Row> {
  await using chat = await openChat(() => ({ parts: [{ text: "Hello." }] }));
  const samples: Record<keyof typeof START_BARS, number[]> = { ms: [], "CPU s": [], MB: [] };
  for (let at = 0; at <= STARTS; at++) {
    const begin = performance.now();
    const pty = chat.open();
    await pty.shows(READY);
    // The first one fills the compile cache.
    if (at > 0) {
      samples.ms.push(performance.now() - begin);
      samples["CPU s"].push(cpuSeconds(pty.pid));
      samples.MB.push(memoryMb(pty.pid));
    }
    await pty.end();
  }
  const notes = {
    ms: "spawn to a ready prompt in a pty, compile cache warm",
    "CPU s": "CPU of the process until the prompt is ready",
    MB: "resident memory at the ready prompt",
  };
  return toRow(
    `terminal: ${unit === "MB" ? "memory" : unit === "ms" ? "start" : "start CPU"}`,
    unit,
    samples[unit],
    START_BARS[unit],
    notes[unit],
  );
}

/** An answer of Markdown at full speed, with keys typed meanwhile; in tmux, except where its redraws would be counted. */
async function stream(what: keyof typeof STREAM_BARS): Promise<Row> {
  let text = "";
  for (let i = 0; text.length < TOKENS * CHARS_PER_TOKEN; i++) text += paragraph(i);
  await using chat = await openChat(() => ({
    parts: [{ text: `${text}\n\nTHE END\n` }],
    events_per_second: (TOKENS_PER_SECOND * CHARS_PER_TOKEN) / CHARS_PER_EVENT,
  }));
  const isInTmux = what !== "kB" && chat.hasTmux;
  const pty = isInTmux ? chat.openInTmux() : chat.open();
  await pty.shows(READY);
  const pid = pty.agentPid();
  const [cpu, begin, bytes] = [cpuSeconds(pid), performance.now(), pty.output().length];
  pty.write("go\r");
  await pty.shows("part 1 ");
  const echoes: number[] = [];
  for (let at = 0; !pty.output().includes("THE END"); at++) {
    const key = KEYS[at % KEYS.length] ?? "";
    const from = pty.output().length;
    const typedAt = performance.now();
    pty.write(key);
    await pty.shows(key, from);
    echoes.push(performance.now() - typedAt);
    await delay(ECHO_EVERY_MS);
  }
  const seconds = (performance.now() - begin) / 1_000;
  const share = ((cpuSeconds(pid) - cpu) / seconds) * 100;
  const frames = pty.output().slice(bytes).split(BEGIN_FRAME).slice(1);
  const sizes = frames.map((frame) => Buffer.byteLength(frame) / 1_000);
  const lags = await chat.lags(pid);
  await pty.end();
  const measured = {
    "% of a core": {
      name: "stream CPU",
      samples: [share],
      figure: share,
      note: `CPU of the process over ${seconds.toFixed(1)} s`,
    },
    kB: {
      name: "stream frame",
      samples: sizes,
      figure: sizes.reduce((sum, one) => sum + one, 0) / Math.max(sizes.length, 1),
      note: `bytes of ${frames.length} frames; the mean counts`,
    },
    "echo ms": {
      name: "key echo",
      samples: echoes,
      figure: echoes.toSorted((a, b) => a - b)[Math.floor(echoes.length * 0.99)] ?? 0,
      note: `a key to its echo, at the p99 of ${echoes.length}`,
    },
    "lag ms": {
      name: "loop lag",
      samples: [lags.p50],
      figure: lags.p99,
      note: "event loop delay at its p99",
    },
  }[what];
  const { name, samples, figure } = measured;
  const note = `${TOKENS} tokens of Markdown at ${TOKENS_PER_SECOND} a second${isInTmux ? " in tmux" : ""}: ${measured.note}`;
  const unit = what === "echo ms" || what === "lag ms" ? "ms" : what;
  return { ...toRow(`terminal: ${name}`, unit, samples, STREAM_BARS[what], note), figure };
}

/** Markdown as models write it. */
const paragraph = (i: number): string =>
  i % 10 === 0
    ? `\n\n## Heading of part ${i}\n\n\`\`\`ts\nconst part${i} = "${i}";\n\`\`\`\n\n`
    : `- part ${i} with **bold**, \`code\` and 漢字 as models write it, on and on\n`;

function toRow(name: string, unit: Row["unit"], samples: readonly number[], bar: Bar, note: string): Row {
  const octant = toSpread([...samples]);
  return { name, unit, octant, figure: octant.p50, bar, note };
}

interface Chat extends AsyncDisposable {
  readonly hasTmux: boolean;
  open(): Terminal;
  openInTmux(): Terminal;
  /** The delay of the agent's event loop so far. */
  lags(pid: number): Promise<{ readonly p50: number; readonly p99: number }>;
}

interface Terminal {
  readonly pid: number;
  /** The agent's process, which in tmux is another one. */
  agentPid(): number;
  write(text: string): void;
  output(): string;
  /** Waits until the text was written, at or behind `from`. */
  shows(text: string, from?: number): Promise<void>;
  end(): Promise<void>;
}

async function openChat(script: Script): Promise<Chat> {
  const folder = mkdtempSync(join(tmpdir(), "octant-bench-terminal-"));
  const provider = await createScriptedProvider(script);
  const launcher = layOutInstall(join(folder, "install"));
  const cwd = join(folder, "project");
  mkdirSync(cwd);
  const lagFile = join(folder, "lags.json");
  const env = {
    ...process.env,
    ...providerEnvironment(provider),
    HOME: folder,
    XDG_STATE_HOME: join(folder, "state"),
    XDG_CACHE_HOME: join(folder, "cache"),
    TERM: "xterm-256color",
    COLORTERM: "truecolor",
    OCTANT_THEME: "dark",
    NODE_OPTIONS: `--import ${LAG_RECORDER}`,
    BENCH_LAG_FILE: lagFile,
  };
  const command = [process.execPath, launcher, "chat", "--provider", "anthropic"];
  const start = ([file = "", ...args]: readonly string[]) =>
    spawn(file, args, { cwd, env, cols: 120, rows: 40 });
  const tmux = ["tmux", "-u", "-S", join(folder, "tmux")];
  const inTmux = (...args: string[]) =>
    execFileSync(tmux[0] ?? "", [...tmux.slice(1), ...args], { encoding: "utf8" });
  return {
    hasTmux: hasProgram("tmux"),
    open() {
      const pty = start(command);
      return watch(pty, () => pty.pid);
    },
    openInTmux: () =>
      watch(start([...tmux, "-f", "/dev/null", "new-session", ...command]), () =>
        Number(inTmux("list-panes", "-F", "#{pane_pid}")),
      ),
    async lags(pid) {
      process.kill(pid, "SIGUSR2");
      while (!existsSync(lagFile)) await delay(10);
      return JSON.parse(readFileSync(lagFile, "utf8"));
    },
    async [Symbol.asyncDispose]() {
      if (existsSync(join(folder, "tmux"))) inTmux("kill-server");
      await provider.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const LAG_RECORDER = join(import.meta.dirname, "../lag-recorder.js");

function hasProgram(name: string): boolean {
  try {
    execFileSync("/bin/sh", ["-c", 'command -v "$0"', name], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function watch(pty: IPty, agentPid: () => number): Terminal {
  let output = "";
  let onData = () => {};
  pty.onData((data) => {
    output += data;
    onData();
  });
  const exited = new Promise<void>((resolve) => pty.onExit(() => resolve()));
  return {
    pid: pty.pid,
    agentPid,
    write: (text) => pty.write(text),
    output: () => output,
    async shows(text, from = 0) {
      while (!output.includes(text, from)) {
        await new Promise<void>((resolve) => {
          onData = resolve;
        });
      }
    },
    async end() {
      pty.write("\x03\x03");
      pty.kill("SIGTERM");
      await exited;
    },
  };
}

const TICKS_PER_SECOND = 100;

/** User and system time of one process. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

const memoryMb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) / 1_000;
