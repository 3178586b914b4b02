import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type Bench, type Case, expectEqual, rememberAnswer, toData } from "../case.ts";
import { type RpcServer, startServer, toCallLine } from "../json-rpc.ts";
import { interleave, timed } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

const GROWN_MEGABYTES = 300;
const BYTES_PER_MEGABYTE = 1e6;
const EXEC = { action: "exec", command: ["true"] };

const NAME = "exec true";
const NAME_GROWN = `exec true at ${GROWN_MEGABYTES} MB`;
const NOTE = "floor: spawn of `true` by a process that does nothing else, its pipes read to their end";

const NAME_SANDBOXED = "exec sandboxed";
const NAME_TO_BWRAP = "exec sandboxed, to bwrap";
const PAUSE_MS = 60;
const PAUSE_NOTE = `default settings, a call every ${PAUSE_MS} ms and more, as by a model`;
/** The least that isolates: the whole machine read-only, own processes and devices. */
const BARE_BWRAP = [
  ...["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid"],
  ...["--die-with-parent", "true"],
];

export const processes: readonly Case[] = [
  { name: NAME, run: execTrueFree },
  { name: NAME_GROWN, run: execTrueGrown },
  {
    name: NAME_SANDBOXED,
    run: (bench) =>
      execTrue(bench, {
        name: NAME_SANDBOXED,
        note: `${PAUSE_NOTE}; floor: as of ${NAME}`,
        bar: 2.5,
        pauseMs: PAUSE_MS,
      }),
  },
  {
    name: NAME_TO_BWRAP,
    run: (bench) =>
      execTrue(bench, {
        name: NAME_TO_BWRAP,
        note: `${PAUSE_NOTE}; floor: the same through a bare bwrap`,
        bar: 1,
        pauseMs: PAUSE_MS,
        floor: BARE_BWRAP,
      }),
  },
];

async function execTrueFree(bench: Bench): Promise<Row> {
  using settings = withoutSandbox();
  await using octant = await startLike(bench.octant, settings.env);
  return await execTrue({ ...bench, octant }, { name: NAME, note: NOTE, bar: 1.6 });
}

async function execTrueGrown(bench: Bench): Promise<Row> {
  using settings = withoutSandbox();
  await using octant = await startLike(bench.octant, settings.env, ["--import", BALLAST]);
  const note = `${NOTE}; half of the server is objects`;
  const row = await execTrue({ ...bench, octant }, { name: NAME_GROWN, note, bar: 1.6 });
  const megabytes = residentMegabytes(octant.pid);
  if (megabytes < GROWN_MEGABYTES) throw new Error(`the server has ${megabytes} MB, so nothing was shown`);
  return row;
}

interface Exec extends Pick<Row, "name" | "note"> {
  readonly bar: number;
  /** Before each call, not counted. */
  readonly pauseMs?: number;
  readonly floor?: readonly string[];
}

async function execTrue(
  { octant, noOp, effort, random }: Bench,
  { name, note, bar, pauseMs = 0, floor = ["true"] }: Exec,
): Promise<Row> {
  using spawner = startSpawner(floor);
  const first = await octant.exchange(toCallLine("proc", EXEC));
  expectEqual((toData(first, name) as { exit_code: number }).exit_code, 0, "exit code");
  await rememberAnswer(noOp, first);
  const spreads = await interleave(
    {
      octant: async () => {
        if (pauseMs > 0) await sleep(pauseMs);
        return timed(() => octant.exchange(toCallLine("proc", EXEC)));
      },
      noOp: () => timed(() => noOp.exchange(toCallLine("no_op", EXEC))),
      direct: spawner.time,
    },
    // Measures a warmed-up server, and a command takes long: a second has too few of them.
    { ...effort, warmUpMs: effort.warmUpMs * 3 },
    random,
  );
  const figure = spreads.octant.p50 / (spreads.direct.p50 + spreads.noOp.p50);
  return { name, unit: "ms", ...spreads, figure, bar: atMost(bar), note };
}

/**
 * The cost of a spawn depends on the size of the process, and the bench is big, so a small one does it, with its own
 * clock.
 */
function startSpawner(argv: readonly string[]): Disposable & { time(): Promise<number> } {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", SPAWNER, ...argv], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async time() {
      child.stdin.write("go\n");
      return Number((await lines.next()).value);
    },
    [Symbol.dispose]: () => child.stdin.end(),
  };
}

const SPAWNER = `
  import { spawn } from "node:child_process";
  import { once } from "node:events";
  const [program, ...args] = process.argv.slice(1);
  for await (const _ of process.stdin) {
    const start = performance.now();
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.resume();
    child.stderr.resume();
    await once(child, "close");
    console.log(performance.now() - start);
  }
`;

/** Settings of a person who has disabled the sandbox. */
function withoutSandbox(): Disposable & { readonly env: Readonly<Record<string, string>> } {
  const folder = mkdtempSync(join(tmpdir(), "octant-bench-settings-"));
  mkdirSync(join(folder, "hanzo"));
  writeFileSync(join(folder, "hanzo", "settings.json"), JSON.stringify({ sandbox: { mode: "off" } }));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { env: { XDG_CONFIG_HOME: folder }, [Symbol.dispose]: remove };
}

/** Another server like this one, started by the same command line. */
function startLike(
  { pid }: RpcServer,
  more: Readonly<Record<string, string>>,
  nodeFlags: readonly string[] = [],
): Promise<RpcServer> {
  const [program = "", ...args] = readList(pid, "cmdline");
  const env = Object.fromEntries(readList(pid, "environ").map((pair) => pair.split(/=(.*)/s, 2)));
  return startServer([program, ...nodeFlags, ...args], { ...env, ...more });
}

const readList = (pid: number, name: string): string[] =>
  readFileSync(`/proc/${pid}/${name}`, "utf8").split("\0").slice(0, -1);

/** Half bytes, half objects, which every garbage collection must visit. */
const BALLAST = `data:text/javascript,${encodeURIComponent(`
  const half = ${(GROWN_MEGABYTES * BYTES_PER_MEGABYTE) / 2};
  globalThis.ballast = {
    bytes: Buffer.alloc(half, 1),
    objects: Array.from({ length: half / 100 }, (_, n) => ({ n, text: "ballast " + n, more: [n] })),
  };
`)}`;

function residentMegabytes(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (Number(kibibytes) * 1024) / BYTES_PER_MEGABYTE;
}
