import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Bench, type Case, callCase, expectEqual, toData, type WorkTree } from "../case.ts";
import { type RpcServer, toCallLine } from "../json-rpc.ts";
import { interleave, toSpread } from "../measure.ts";
import { atMost, type Row } from "../row.ts";
import { growTree } from "../tree.ts";

const IDLE_MS = 500;
const CHARS_PER_TOKEN = 4;
const BUDGETED_TOOLS: readonly string[] = ["ws", "fs"];
const KILOBYTES_PER_MEGABYTE = 1000;
const INDEXED_SEED = 1;

interface FirstCall extends Pick<Row, "name"> {
  readonly tool: string;
  readonly mostMs: number;
  toArguments(tree: WorkTree, round: number): object;
}

const FIRST_CALLS: readonly FirstCall[] = [
  {
    name: "first read",
    tool: "fs",
    mostMs: 40,
    toArguments: ({ smallFiles }) => ({ action: "read", uri: smallFiles[0] }),
  },
  {
    name: "first write",
    tool: "fs",
    mostMs: 50,
    toArguments: ({ scratchFolder }, round) => ({
      action: "write",
      uri: `${scratchFolder}/first-${round}.txt`,
      content: "first\n",
    }),
  },
  {
    name: "first exec",
    tool: "proc",
    mostMs: 80,
    toArguments: () => ({ action: "exec", command: ["true"] }),
  },
];

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
  ...FIRST_CALLS.map((first): Case => ({ name: first.name, run: (bench) => firstOfKind(bench, first) })),
  { name: "idle memory", run: idleMemory },
  { name: "index memory of a server", run: indexMemory },
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

/** The first call of a server that has answered the handshake and the list. */
async function firstOfKind(
  { startOctant, tree, effort, random }: Bench,
  { name, tool, mostMs, toArguments }: FirstCall,
): Promise<Row> {
  const { octant } = await interleave(
    {
      octant: async (round) => {
        await using server = await startOctant();
        await server.request("tools/list");
        const line = toCallLine(tool, toArguments(tree, round));
        const start = performance.now();
        toData(await server.exchange(line), name);
        return performance.now() - start;
      },
    },
    effort,
    random,
  );
  const note = "after the list, compile cache warm: the tools are loaded at this call";
  return { name, unit: "ms", octant, figure: octant.p50, bar: atMost(mostMs), note };
}

/** Proportional memory of the process, its threads included, once it has parsed and indexed a tree. */
async function indexMemory({ startOctant, tree }: Bench): Promise<Row> {
  // A tree of its own: the index of an earlier server would be complete already.
  const root = mkdtempSync(join(tree.root, "..", "memory-"));
  const { bigFile } = growTree(root, INDEXED_SEED);
  await using server = await startOctant(root);
  const ask = async (tool: string, args: object) =>
    toData(await server.exchange(toCallLine(tool, args)), tool) as { state?: string };
  await ask("code", { action: "outline", uri: bigFile });
  await ask("search", { action: "index" });
  while ((await ask("search", { action: "status" })).state !== "fresh") await sleep(IDLE_MS);
  await sleep(IDLE_MS);
  const octant = toSpread([proportionalMegabytes(server.pid)]);
  return {
    name: "index memory of a server",
    unit: "MB",
    octant,
    figure: octant.p50,
    bar: atMost(180),
    note: "PSS after code.outline and a complete search.index of a new tree",
  };
}

function proportionalMegabytes(pid: number): number {
  const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
  return (Number(kilobytes) * 1.024) / KILOBYTES_PER_MEGABYTE;
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
