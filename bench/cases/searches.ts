import { spawn } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { rgPath } from "@vscode/ripgrep";
import { type Bench, type Case, callCase, expectEqual, toData } from "../case.ts";
import { type RpcServer, toCallLine } from "../json-rpc.ts";
import { interleave, timed, toSpread } from "../measure.ts";
import { atMost, type Row } from "../row.ts";
import {
  COMMON_PATTERN,
  FLAT_ENTRIES,
  GLOB,
  GLOB_MATCHES,
  growTree,
  RARE_MATCHES,
  RARE_PATTERN,
  rareMatchesIn,
  type Tree,
} from "../tree.ts";

const PAGE = 200;

export const searches: readonly Case[] = [
  callCase({
    name: "list 1,000 entries",
    bar: atMost(4),
    note: "floor: readdir, lstat of each",
    toArguments: ({ flatFolder }) => ({ action: "list", uri: flatFolder, limit: FLAT_ENTRIES }),
    direct: ({ root, flatFolder }) => {
      const folder = join(root, flatFolder);
      return readdirSync(folder).map((name) => lstatSync(join(folder, name)));
    },
    check: ({ entries }) => expectEqual(entries.length, FLAT_ENTRIES, "entries"),
  }),
  { name: "list 1,000 entries, size", run: listSize },
  { name: "list 1,000 entries, structured", run: structuredListSize },
  { name: "symbol by name", run: symbolByName },
  callCase({
    name: "search_text glob",
    bar: atMost(1.1),
    note: "a rare pattern that no index helps; floor: rg, all its output read",
    toArguments: () => ({ action: "search_text", pattern: RARE_PATTERN, glob: "*" }),
    direct: (tree) => ripgrep(tree, ["--line-number", "--glob=*", RARE_PATTERN]),
    check: ({ matches }) => expectEqual(matches.length, RARE_MATCHES, "matches"),
  }),
  {
    name: "search_text rare",
    async run(bench) {
      const tree = { ...growLargeTree(bench.tree), scratchFolder: "" };
      await using octant = await bench.startOctant(tree.root);
      await untilIndexed(octant);
      return await searchIndexed.run({ ...bench, tree, octant });
    },
  },
  callCase({
    name: "search_text common",
    bar: atMost(2),
    note: `floor: rg, all its output read; ours is a page of ${PAGE}`,
    toArguments: () => ({ action: "search_text", pattern: COMMON_PATTERN, limit: PAGE }),
    direct: (tree) => ripgrep(tree, ["--line-number", COMMON_PATTERN]),
    check: ({ matches }) => expectEqual(matches.length, PAGE, "matches"),
  }),
  callCase({
    name: "glob",
    bar: atMost(1.3),
    note: `floor: rg --files -g '${GLOB}', all its output read`,
    toArguments: () => ({ action: "list", uri: ".", pattern: GLOB, limit: 2 * GLOB_MATCHES }),
    direct: (tree) => ripgrep(tree, ["--files", "--glob", GLOB]),
    check: ({ entries }) => expectEqual(entries.length, GLOB_MATCHES, "entries"),
  }),
];

/** The whole answer for a client that is not known: structured content and text. */
function listSize({ octant, tree }: Bench): Promise<Row> {
  const note = "structured content and the text beside it";
  return sizeOfList(octant, tree, { name: "list 1,000 entries, size", note });
}

async function structuredListSize({ startOctant, tree }: Bench): Promise<Row> {
  await using octant = await startOctant(tree.root, "--answers", "structured");
  const note = "with --answers structured: paths from a base, and one line of text";
  return await sizeOfList(octant, tree, { name: "list 1,000 entries, structured", note });
}

async function sizeOfList(
  octant: RpcServer,
  tree: Tree,
  { name, note }: Pick<Row, "name" | "note">,
): Promise<Row> {
  const args = { action: "list", uri: tree.flatFolder, limit: FLAT_ENTRIES };
  const answer = await octant.exchange(toCallLine("fs", args));
  const { entries } = toData(answer, name) as { entries: readonly unknown[] };
  expectEqual(entries.length, FLAT_ENTRIES, "entries");
  const size = toSpread([answer.length / 1000]);
  return { name, unit: "kB", octant: size, figure: size.p50, bar: atMost(90), note };
}

const SYMBOLS = ["order", "user12", "token1", "total4"];

/** On a complete index; the files of the hits are looked at again. */
async function symbolByName({ octant, effort, random }: Bench): Promise<Row> {
  const name = "symbol by name";
  const ask = async (tool: string, args: object) =>
    toData(await octant.exchange(toCallLine(tool, args)), name) as Record<string, unknown>;
  await ask("search", { action: "index" });
  while ((await ask("search", { action: "status" }))["state"] !== "fresh") await sleep(POLL_MS);
  const spreads = await interleave(
    {
      octant: (round) =>
        timed(() => ask("code", { action: "search_symbol", query: SYMBOLS[round % SYMBOLS.length] })),
    },
    effort,
    random,
  );
  const note = "code.search_symbol on a complete index; the files of the hits are looked at again";
  return { name, unit: "ms", ...spreads, figure: spreads.octant.p50, bar: atMost(6), note };
}

const POLL_MS = 200;

const LARGE_TREE_FILES = 13_000;

const searchIndexed = callCase({
  name: "search_text rare",
  bar: atMost(0.2),
  note: `${LARGE_TREE_FILES} files, by trigrams; floor: rg, all its output read`,
  toArguments: () => ({ action: "search_text", pattern: RARE_PATTERN }),
  direct: (tree) => ripgrep(tree, ["--line-number", RARE_PATTERN]),
  check: ({ matches }) => expectEqual(matches.length, rareMatchesIn(LARGE_TREE_FILES), "matches"),
});

/** Next to the other; the first sitting creates it. */
function growLargeTree(beside: Tree): Tree {
  const root = join(beside.root, "..", "large-tree");
  if (existsSync(root)) return { ...beside, root };
  mkdirSync(root);
  return growTree(root, 1, LARGE_TREE_FILES);
}

async function untilIndexed(octant: RpcServer): Promise<void> {
  const line = toCallLine("fs", { action: "search_text", pattern: RARE_PATTERN });
  for (let answer = ""; !answer.includes('"backend":"trigrams'); )
    answer = String(await octant.exchange(line));
}

/** As a person would run it in the folder, without their own settings. */
async function ripgrep({ root }: Tree, args: readonly string[]): Promise<number> {
  const child = spawn(rgPath, ["--no-config", ...args, "."], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`rg ended with ${code}`))));
  });
  return bytes;
}
