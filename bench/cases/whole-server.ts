import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Bench, type Case, callCase, expectEqual } from "../case.ts";
import { type RpcServer, toCallLine } from "../json-rpc.ts";
import { interleave, toSpread } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

const IDLE_MS = 500;
const CHARS_PER_TOKEN = 4;
const BUDGETED_TOOLS: readonly string[] = ["ws", "fs"];
const KILOBYTES_PER_MEGABYTE = 1000;

export const wholeServer: readonly Case[] = [
  callCase({
    name: "no-op call",
    isShort: true,
    note: "floor: the no-op SDK call; ours is the help of one action",
    toArguments: () => ({ action: "help", about: "stat" }),
    check: ({ markdown }) => expectEqual(typeof markdown, "string", "type of the markdown"),
  }),
  { name: "cold start", run: (bench) => coldStart(bench, LIST) },
  { name: "first call", run: (bench) => coldStart(bench, FIRST_CALL) },
  { name: "idle memory", run: idleMemory },
  { name: "tools/list", run: listSize },
];

interface Start extends Pick<Row, "name" | "note" | "bar"> {
  /** The request after the handshake. */
  ask(server: RpcServer, tool: string): Promise<unknown>;
}

const LIST: Start = {
  name: "cold start",
  note: "spawn to the answer of tools/list, compile cache warm",
  bar: atMost(0.9),
  ask: (server) => server.request("tools/list"),
};

/** The list is answered before the tools are loaded; a call is not. */
const FIRST_CALL: Start = {
  name: "first call",
  note: "spawn to the answer of the first call: the help of one action, or the no-op's",
  async ask(server, tool) {
    await server.request("tools/list");
    return server.exchange(toCallLine(tool, { action: "help", about: "stat" }));
  },
};

async function coldStart(
  { startOctant, startNoOp, effort, random }: Bench,
  { ask, ...row }: Start,
): Promise<Row> {
  const startOf = (start: () => Promise<RpcServer>, tool: string) => async () => {
    const begin = performance.now();
    await using server = await start();
    await ask(server, tool);
    return performance.now() - begin;
  };
  const spreads = await interleave(
    { octant: startOf(startOctant, "fs"), noOp: startOf(startNoOp, "no_op") },
    effort,
    random,
  );
  return { ...row, unit: "ms", ...spreads, figure: spreads.octant.p50 / spreads.noOp.p50 };
}

async function idleMemory({ startOctant }: Bench): Promise<Row> {
  await using server = await startOctant();
  await server.request("tools/list");
  await sleep(IDLE_MS);
  const octant = toSpread([residentMegabytes(server.pid)]);
  await server.exchange(toCallLine("fs", { action: "help", about: "stat" }));
  await sleep(IDLE_MS);
  const called = Math.round(residentMegabytes(server.pid));
  return {
    name: "idle memory",
    unit: "MB",
    octant,
    figure: octant.p50,
    bar: atMost(80),
    note: `RSS after tools/list; after the first call ${called} MB`,
  };
}

function residentMegabytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (Number(kilobytes) * 1.024) / KILOBYTES_PER_MEGABYTE;
}

async function listSize({ octant }: Bench): Promise<Row> {
  const tools = (await octant.request("tools/list"))["tools"] as { name: string }[];
  const sizeOf = (listed: readonly object[]) => JSON.stringify(listed).length;
  const chars = sizeOf(tools.filter(({ name }) => BUDGETED_TOOLS.includes(name)));
  const tokens = toSpread([chars / CHARS_PER_TOKEN]);
  const all = `all ${tools.length} tools ${Math.round(sizeOf(tools) / CHARS_PER_TOKEN)} tokens`;
  const note = `ws and fs: ${chars} characters, ${CHARS_PER_TOKEN} to a token; ${all}`;
  return { name: "tools/list", unit: "tokens", octant: tokens, figure: tokens.p50, bar: atMost(1_000), note };
}
