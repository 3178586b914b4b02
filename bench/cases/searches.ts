import { spawn } from "node:child_process";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { type Case, callCase, expectEqual } from "../case.ts";
import { atMost } from "../row.ts";
import {
  COMMON_PATTERN,
  FLAT_ENTRIES,
  GLOB,
  GLOB_MATCHES,
  RARE_MATCHES,
  RARE_PATTERN,
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
  callCase({
    name: "search_text rare",
    bar: atMost(0.2),
    note: "by trigrams; floor: rg, all its output read",
    toArguments: () => ({ action: "search_text", pattern: RARE_PATTERN }),
    direct: (tree) => ripgrep(tree, ["--line-number", RARE_PATTERN]),
    check: ({ matches }) => expectEqual(matches.length, RARE_MATCHES, "matches"),
  }),
  callCase({
    name: "search_text rare, glob",
    bar: atMost(1.1),
    note: "without an index; floor: rg, all its output read",
    toArguments: () => ({ action: "search_text", pattern: RARE_PATTERN, glob: "*" }),
    direct: (tree) => ripgrep(tree, ["--line-number", "--glob=*", RARE_PATTERN]),
    check: ({ matches }) => expectEqual(matches.length, RARE_MATCHES, "matches"),
  }),
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
