import { hash } from "node:crypto";
import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type CallCase, type Case, callCase, expectEqual, type WorkTree } from "../case.ts";
import { atMost } from "../row.ts";
import { SMALL_BYTES } from "../tree.ts";

export const writes: readonly Case[] = [
  writeCase({
    name: "write 1 KB",
    bar: atMost(2.2),
    note: "floor: write, fdatasync, rename, fsync of the folder",
  }),
  patchCase({
    name: "patch 1 KB",
    bar: atMost(2.2),
    note: "floor: read, sha256, write, fdatasync, rename, fsync of the folder",
  }),
];

type Row = Pick<CallCase, "name" | "bar" | "note">;

function writeCase(row: Row): Case {
  return callCase({
    ...row,
    toArguments: ({ scratchFolder }, round) => ({
      action: "write",
      uri: `${scratchFolder}/octant-${round}.ts`,
      content: moduleOf(round),
    }),
    direct(tree, round) {
      const path = inScratch(tree, `direct-${round}.ts`);
      replace(path, moduleOf(round));
      durable(path);
    },
    check: (data) => expectEqual(data.hash, hashOf(moduleOf(0)), "hash"),
  });
}

function patchCase(row: Row): Case {
  return callCase({
    ...row,
    toArguments({ root, scratchFolder }, round) {
      const uri = `${scratchFolder}/patched.ts`;
      // The file as left by the previous round; only the first creates it.
      if (round === 0) writeFileSync(join(root, uri), moduleOf(0));
      return { action: "apply_patch", uri, base_hash: hashOf(moduleOf(round)), patch: patchOf(uri, round) };
    },
    direct(tree, round) {
      const path = inScratch(tree, "patched-directly.ts");
      if (round === 1) writeFileSync(path, moduleOf(1));
      const before = readFileSync(path);
      if (hash("sha256", before) !== hash("sha256", moduleOf(round))) throw new Error("the file has changed");
      replace(path, before.toString().replace(counterLine(round), counterLine(round + 1)));
      durable(path);
    },
    check: ({ files }) => expectEqual(files[0].hash, hashOf(moduleOf(1)), "hash"),
  });
}

function durable(path: string): void {
  const fd = openSync(dirname(path), "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

const inScratch = ({ root, scratchFolder }: WorkTree, name: string): string =>
  join(root, scratchFolder, name);

const hashOf = (text: string): string => `sha256:${hash("sha256", text)}`;

function replace(path: string, text: string): void {
  const temp = `${path}.tmp`;
  const fd = openSync(temp, "wx");
  try {
    writeSync(fd, text);
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temp, path);
}

const HEAD = "export function next(): number {\n  let count = 0;\n";
const TAIL = "  count += 1;\n  return count;\n}\n";
const FILLER_LINE = "// one more line so that the file has its size\n";

const counterLine = (round: number): string => `  // round ${String(round).padStart(6, "0")}\n`;

/** A file of 1 KB that differs from round to round in one line. */
function moduleOf(round: number): string {
  const text = HEAD + counterLine(round) + TAIL;
  return (
    text +
    FILLER_LINE.repeat(SMALL_BYTES)
      .slice(0, SMALL_BYTES - text.length - 1)
      .concat("\n")
  );
}

const patchOf = (path: string, round: number): string =>
  [
    `--- a/${path}\n+++ b/${path}\n@@ -1,5 +1,5 @@\n`,
    " export function next(): number {\n   let count = 0;\n",
    `-${counterLine(round)}+${counterLine(round + 1)}`,
    "   count += 1;\n   return count;\n",
  ].join("");
