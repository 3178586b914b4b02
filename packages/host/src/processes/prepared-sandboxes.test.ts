import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { waitingSandboxes } from "../../testing/sandbox/waiting-sandboxes.ts";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import { toOrder } from "../sandbox/prepared.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { DEFAULT_SANDBOX } from "../sandbox/settings.ts";
import { openStateFolder } from "../state.ts";
import { Pipes } from "./pipes.ts";
import { PreparedSandboxes } from "./prepared-sandboxes.ts";
import { carriesMark, listProcesses } from "./process-table.ts";
import { createProcesses, type Processes } from "./processes.ts";
import { SERVER_MARK } from "./protocol.ts";
import type { ProcessSpec } from "./start-order.ts";

const OWNER = "test";
const NEVER = new AbortController().signal;
const LONG_MS = 60_000;
const MAX_RUNS = 20;
const amRoot = process.getuid?.() === 0;
/** Commands have temp folders of their own, so this is not in one. */
const near = amRoot ? "/srv" : join(import.meta.dirname, "../../../..");

describe.skipIf(inject("missing").includes("bubblewrap"))("sandboxes that wait for a command", () => {
  const base = realpathSync(mkdtempSync(join(near, ".octant-prepared-")));
  const root = join(base, "ws");
  const home = join(base, "ws/home");
  /** A folder that the settings allow. */
  const allowed = join(base, "allowed");
  const cwd = { fd: -1, path: root };
  const servers: Server[] = [];
  let masked: string[] = [];
  let narrower = {};
  /** How many commands looked for a prepared sandbox. */
  let asked = 0;
  let sandbox: Sandbox;
  let processes: Processes;

  const put = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  /** As an editor or a person does it: the entry is another one afterwards. */
  const replace = (path: string, text: string) => {
    put(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  };

  beforeAll(() => {
    put(join(root, ".mcp.json"), "{}");
    put(join(root, "denied.txt"), "denied at first\n");
    put(join(home, ".netrc"), "SECRET at first\n");
    put(join(allowed, "text"), "at first\n");
    spawnSync("git", ["init", "-q", root]);
    cwd.fd = openSync(root, "r");
    const env = { PATH: process.env["PATH"], HOME: home, XDG_STATE_HOME: join(base, "state") };
    const state = openStateFolder({ roots: [root], env, warn: () => {} });
    const denials = { masks: async () => masked, programLimits: () => ({}) };
    const settings = { ...DEFAULT_SANDBOX, allowed_paths: [allowed] };
    sandbox = createSandbox({ roots: [root], settings, env, state, denials });
    processes = createProcesses({
      folder: state.folder("processes"),
      env,
      sandbox: {
        ...sandbox,
        async wrap(command) {
          const launched = await sandbox.wrap({ ...command, ...narrower });
          const prepared = () => {
            asked += 1;
            return launched.prepared?.();
          };
          return { ...launched, prepared };
        },
      },
    });
  });
  afterAll(async () => {
    await processes.close();
    await sandbox.close();
    for (const server of servers) server.close();
    closeSync(cwd.fd);
    rmSync(base, { recursive: true, force: true });
  });

  const run = async (argv: ProcessSpec["argv"], more: Partial<ProcessSpec> = {}) => {
    const started = await processes.start({ argv, cwd, owner: OWNER, label: argv.join(" "), ...more });
    const info = await processes.exited(OWNER, started.proc_id, LONG_MS, NEVER);
    const read = (stream: "stdout" | "stderr") =>
      processes.output(OWNER, started.proc_id, stream).read(0, 100_000).bytes.toString();
    return { pid: started.pid, info, stdout: read("stdout"), stderr: read("stderr") };
  };

  test("of commands that start together, one looks for a prepared sandbox", async () => {
    const before = asked;
    const together = await Promise.all(["a", "b", "c", "d"].map((word) => run(["echo", word])));
    expect(together.map(({ stdout }) => stdout)).toEqual(["a\n", "b\n", "c\n", "d\n"]);
    expect(asked - before).toBe(1);
    await run(["true"]);
    expect(asked - before).toBe(2);
  });
  const sh = (script: string, more?: Partial<ProcessSpec>) => run(["/bin/sh", "-c", script], more);
  /** Leaves a sandbox waiting that was prepared after all changes so far. */
  const prepare = async (): Promise<readonly number[]> => {
    const before = waitingSandboxes();
    await sh("true");
    await expect.poll(() => waitingSandboxes().some((pid) => !before.includes(pid))).toBe(true);
    return waitingSandboxes();
  };

  /** Again when another program of the machine has opened or closed a socket meanwhile, so that the plan is another one. */
  const runPrepared = async (argv: ProcessSpec["argv"], more?: Partial<ProcessSpec>) => {
    for (let n = 0; n < MAX_RUNS; n++) {
      const waiting = await prepare();
      const outcome = await run(argv, more);
      if (waiting.includes(outcome.pid)) return outcome;
    }
    throw new Error("no command ran in a sandbox that had waited for it");
  };

  test("a command runs in the one that waits, as in one of its own", async () => {
    const script =
      'pwd; echo "$PWD $ODD $OLDPWD"; cat; ls /proc/self/fd | wc -l; echo oops >/dev/stderr; exit 7';
    const odd = `a'b"c\\d\n\u00e9\u{1d4b3}$(id)\u0001\u0081 `;
    const own = await sh(script, { env: { ODD: odd, "odd.name": "x" } });
    const prepared = await runPrepared(["/bin/sh", "-c", script], { env: { ODD: odd } });
    expect(prepared).toMatchObject({
      stdout: own.stdout,
      stderr: "oops\n",
      info: { exit_code: 7, status: "exited" },
    });
    expect(own.stdout.startsWith(`${root}\n${root} ${odd} \n`)).toBe(true);
  });

  test("arguments and variables arrive as they are", async () => {
    const bytes = Array.from({ length: 255 }, (_, n) => String.fromCodePoint(n + 1)).join("");
    const script = 'test "$1" = "$ALL" && test "$2" = "" && test $# = 3 && printf %s "$1"';
    const argv = ["/bin/sh", "-c", script, "sh", bytes, "", "-n"] as const;
    const { stdout, info } = await runPrepared(argv, { env: { ALL: bytes } });
    expect({ stdout, code: info.exit_code }).toEqual({ stdout: bytes, code: 0 });
  });

  test("signals, deadlines and kills end it as in one of its own", async () => {
    for (const [script, more, end] of [
      ["kill -TERM $$", {}, { status: "exited", exit_code: 143, signal: "SIGTERM" }],
      ["sleep 600", { timeoutMs: 1 }, { status: "timed_out" }],
    ] as const) {
      const { info } = await runPrepared(["/bin/sh", "-c", script], more);
      expect(info).toMatchObject(end);
    }
    await prepare();
    const argv = ["/bin/sh", "-c", "setsid sleep 600 & wait"] as const;
    const { proc_id } = await processes.start({ argv, cwd, owner: OWNER, label: "sleep" });
    expect(await processes.kill(OWNER, proc_id)).toMatchObject({ status: "killed" });
  });

  test("nothing of an earlier command is there but the files that all commands share", async () => {
    await sh("echo x >/run/left; echo x >/dev/shm/left; (setsid sleep 600 &) ; echo $$", {
      env: { LEFT: "x" },
    });
    const look = 'ls /run /dev/shm; ls -d /proc/[0-9]* | wc -l; echo "[$LEFT]"; echo ~';
    const { stdout } = await runPrepared(["/bin/sh", "-c", look]);
    expect(stdout).not.toContain("left");
    // The first process, the shell, `ls` and `wc`.
    expect(stdout).toMatch(new RegExp(`^4\n\\[\\]\n${home}\n$`, "m"));
  });

  const CHANGES: readonly { what: string; change(): unknown; look: string; shows: string }[] = [
    {
      what: "a protected entry that is new",
      change: () => put(join(root, ".vscode/tasks.json"), "{}"),
      look: "echo x >.vscode/tasks.json; cat .vscode/tasks.json",
      shows: "{}",
    },
    {
      what: "a protected entry that was replaced",
      change: () => replace(join(root, ".mcp.json"), "[]"),
      look: "echo x >.mcp.json; cat .mcp.json",
      shows: "[]",
    },
    {
      what: "a secret that is new",
      change: () => put(join(home, ".aws/credentials"), "SECRET"),
      look: "cat ~/.aws/credentials; ls ~/.aws",
      shows: "",
    },
    {
      what: "a secret that was replaced",
      change: () => replace(join(home, ".netrc"), "SECRET again"),
      look: "cat ~/.netrc",
      shows: "",
    },
    {
      what: "a file that rules deny from now on",
      change: () => {
        masked = [join(root, "denied.txt")];
      },
      look: "cat denied.txt",
      shows: "",
    },
    {
      what: "a denied file that was replaced",
      change: () => replace(join(root, "denied.txt"), "denied again"),
      look: "cat denied.txt",
      shows: "",
    },
    {
      what: "a folder outside the workspace that was replaced",
      change() {
        renameSync(allowed, `${allowed}.old`);
        put(join(allowed, "text"), "again\n");
      },
      look: `cat ${allowed}/text`,
      shows: "again\n",
    },
    {
      what: "a command that may not use the network",
      change: () => {
        narrower = { network: "off" };
      },
      look: "grep -c : /proc/net/dev",
      shows: "1\n",
    },
    {
      what: "a command that may only read",
      change: () => {
        narrower = { readOnly: true };
      },
      look: "echo x >written 2>/dev/null || echo refused",
      shows: "refused\n",
    },
  ];

  test.each(CHANGES)("not used after a change: $what", async ({ change, look, shows }) => {
    const waiting = await prepare();
    await change();
    const { pid, stdout } = await sh(look);
    expect(waiting).not.toContain(pid);
    expect(stdout).toBe(shows);
  });

  test("not used after a change: a socket that a program listens at", async () => {
    const path = join(base, "socket");
    narrower = {};
    const waiting = await prepare();
    const server = createServer((socket) => socket.destroy()).listen(path);
    servers.push(server);
    await once(server, "listening");
    const { pid, stdout } = await sh(`test -S ${path} && echo reachable`);
    expect(waiting).not.toContain(pid);
    expect(stdout).toBe("");
  });

  test.skipIf(!amRoot)("not used after a change: a mount of the machine", async () => {
    const place = join(base, "mounted");
    mkdirSync(place);
    const waiting = await prepare();
    expect(spawnSync("mount", ["-t", "tmpfs", "none", place]).status).toBe(0);
    try {
      const { pid } = await sh(`echo x >${place}/written`);
      expect(waiting).not.toContain(pid);
      expect(existsSync(join(place, "written"))).toBe(false);
    } finally {
      spawnSync("umount", [place]);
    }
  });

  test("not used for input, a terminal or variables that shells treat in their own way", async () => {
    const commands: readonly Partial<ProcessSpec>[] = [
      { stdin: Buffer.from("given") },
      { pty: { cols: 80, rows: 24 } },
      { env: { IFS: ":" } },
      { env: { "a.b": "c" } },
    ];
    for (const more of commands) {
      const waiting = await prepare();
      expect(waiting).not.toContain((await sh("true", more)).pid);
    }
  });

  test("none is left when the server closes", async () => {
    await prepare();
    await processes.close();
    expect(waitingSandboxes()).toEqual([]);
  });
});

test("a part of an order runs nothing", () => {
  const file = join(mkdtempSync("/tmp/octant-order-"), "made");
  const order = toOrder({ argv: ["touch", file], folder: "/", env: { A: "b'c" }, pty: false })!;
  for (let length = 0; length < order.trimEnd().length; length++) {
    spawnSync("/bin/sh", { input: order.slice(0, length) });
    if (existsSync(file)) expect.fail(`ran after ${length} characters: ${order.slice(0, length)}`);
  }
  spawnSync("/bin/sh", { input: order });
  expect(existsSync(file)).toBe(true);
  rmSync(dirname(file), { recursive: true });
});

test("only two plans have one that waits, the last two used", async () => {
  const folder = mkdtempSync("/tmp/octant-plans-");
  const prepared = new PreparedSandboxes(new Pipes(folder), folder);
  const waiting = () => listProcesses().filter(({ pid }) => carriesMark(pid, `${SERVER_MARK}=${folder}`));
  const toLaunch = (key: string) => ({ argv: ["/bin/cat"], key, order: "", unused: null }) as const;
  try {
    for (const [n, key] of ["a", "b", "c"].entries()) {
      const before = waiting().map(({ pid }) => pid);
      prepared.prepareNext(toLaunch(key), Promise.resolve());
      await expect.poll(() => waiting().some(({ pid }) => !before.includes(pid))).toBe(true);
      await expect.poll(() => waiting().length).toBe(Math.min(n + 1, 2));
    }
    const taken = ["a", "b", "c"].map((key) => prepared.take(toLaunch(key)) !== undefined);
    expect(taken).toEqual([false, true, true]);
  } finally {
    prepared.close();
    for (const { pid } of waiting()) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true });
  }
});

test("one that no command uses for a minute is ended", async () => {
  const folder = mkdtempSync("/tmp/octant-kept-");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const prepared = new PreparedSandboxes(new Pipes(folder), folder);
    const isThere = () => listProcesses().some(({ pid }) => carriesMark(pid, `${SERVER_MARK}=${folder}`));
    const launch = { argv: ["/bin/cat"], key: "k", order: "", unused: null } as const;
    prepared.prepareNext(launch, Promise.resolve());
    // A poll would move the time on.
    while (!isThere()) await setImmediate();
    vi.advanceTimersByTime(59_999);
    expect(isThere()).toBe(true);
    vi.advanceTimersByTime(1);
    while (isThere()) await setImmediate();
    expect(prepared.take(launch)).toBeUndefined();
    prepared.close();
  } finally {
    vi.useRealTimers();
    rmSync(folder, { recursive: true });
  }
});
