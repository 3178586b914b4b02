import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type Bench, type CallCase, type Case, callCase, expectEqual } from "../case.ts";
import { type RpcServer, startServer } from "../json-rpc.ts";
import { atMost, type Row } from "../row.ts";

const GROWN_MEGABYTES = 300;
const BYTES_PER_MEGABYTE = 1e6;

const EXEC_TRUE: CallCase = {
  name: "exec true",
  tool: "proc",
  bar: atMost(1.3),
  note: "floor: spawn of `true` from a small process, its pipes read to their end",
  toArguments: () => ({ action: "exec", command: ["true"] }),
  direct: spawnTrue,
  check: ({ exit_code }) => expectEqual(exit_code, 0, "exit code"),
};

const GROWN: CallCase = {
  ...EXEC_TRUE,
  name: `exec true at ${GROWN_MEGABYTES} MB`,
  note: `the same, by a server of ${GROWN_MEGABYTES} MB, half of it objects`,
};

export const processes: readonly Case[] = [
  callCase(EXEC_TRUE),
  { name: GROWN.name, run: (bench) => runGrown(bench) },
];

async function spawnTrue(): Promise<void> {
  const child = spawn("true", { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.resume();
  child.stderr.resume();
  await once(child, "close");
}

async function runGrown(bench: Bench): Promise<Row> {
  await using octant = await startGrown(bench.octant);
  const row = await callCase(GROWN).run({ ...bench, octant });
  const megabytes = residentMegabytes(octant.pid);
  if (megabytes < GROWN_MEGABYTES) throw new Error(`the server has ${megabytes} MB, so nothing was shown`);
  return row;
}

/** Another server like this one, started by the same command line, that holds memory before it does anything else. */
function startGrown({ pid }: RpcServer): Promise<RpcServer> {
  const [program = "", ...args] = readList(pid, "cmdline");
  const env = Object.fromEntries(readList(pid, "environ").map((pair) => pair.split(/=(.*)/s, 2)));
  return startServer([program, "--import", BALLAST, ...args], env);
}

const readList = (pid: number, name: string): string[] =>
  readFileSync(`/proc/${pid}/${name}`, "utf8").split("\0").slice(0, -1);

/** Half of it bytes, half of it objects, which every collection of garbage has to look at. */
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
