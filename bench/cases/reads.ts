import { hash } from "node:crypto";
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { type Bench, type Case, callCase, expectEqual, rememberAnswer, toData } from "../case.ts";
import { type RpcServer, toCallLine } from "../json-rpc.ts";
import { interleave } from "../measure.ts";
import { atLeast, atMost } from "../row.ts";
import { BIG_BYTES, FLAT_ENTRIES, SMALL_BYTES, type Tree } from "../tree.ts";

const FIRST_LINE = 13_000;
const LINE_COUNT = 40;
const CHUNK_BYTES = 64 * 1024;
const IN_FLIGHT = 32;
const CALLS_PER_SAMPLE = 320;

export const reads: readonly Case[] = [
  callCase({
    name: "read 1 KB",
    bar: atMost(1.5),
    isShort: true,
    note: "floor: readFileSync, sha256, decode",
    toArguments: (tree, round) => ({ action: "read", uri: smallFile(tree, round) }),
    direct: (tree, round) => readWhole(join(tree.root, smallFile(tree, round))),
    check: ({ text }) => expectEqual(text.length, SMALL_BYTES, "length of the text"),
  }),
  callCase({
    name: "sequential reads",
    isShort: true,
    note: `floor: as above; ${FLAT_ENTRIES} files, more than are kept open`,
    toArguments: (tree, round) => ({ action: "read", uri: flatFile(tree, round) }),
    direct: (tree, round) => readWhole(join(tree.root, flatFile(tree, round))),
    check: ({ text }) => expectEqual(text, "entry 0\n", "text"),
  }),
  callCase({
    name: "read 1 MB",
    bar: atMost(1.3),
    note: "floor: readFileSync, sha256, decode",
    toArguments: ({ bigFile }) => ({ action: "read", uri: bigFile, max_bytes: 2 * BIG_BYTES }),
    direct: ({ root, bigFile }) => readWhole(join(root, bigFile)),
    check: ({ text }) => expectEqual(text.length, BIG_BYTES, "length of the text"),
  }),
  callCase({
    name: "40 lines of 1 MB",
    bar: atMost(1.3),
    note: `floor: reads to line ${FIRST_LINE + LINE_COUNT}, no hash`,
    toArguments: ({ bigFile }) => ({
      action: "read",
      uri: bigFile,
      range: { start: { line: FIRST_LINE, col: 0 }, end: { line: FIRST_LINE + LINE_COUNT, col: 0 } },
    }),
    direct: ({ root, bigFile }) => readLines(join(root, bigFile), FIRST_LINE, LINE_COUNT),
    check: ({ text }) => expectEqual(text.split("\n").length - 1, LINE_COUNT, "lines"),
  }),
  { name: "32 reads in flight", run: readsInFlight },
];

const smallFile = ({ smallFiles }: Tree, round: number): string =>
  smallFiles[round % smallFiles.length] ?? "";

const flatFile = ({ flatFolder }: Tree, round: number): string =>
  `${flatFolder}/entry-${round % FLAT_ENTRIES}.txt`;

function readWhole(path: string) {
  const bytes = readFileSync(path);
  return { hash: hash("sha256", bytes), text: bytes.toString() };
}

/** The cost of finding lines by number: everything before them is read and its newlines are counted. */
function readLines(path: string, first: number, count: number): string {
  const fd = openSync(path, "r");
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const kept: Buffer[] = [];
    for (let line = 0; line < first + count; ) {
      const length = readSync(fd, chunk);
      if (length === 0) break;
      let start = line >= first ? 0 : length;
      let end = length;
      for (let at = nextNewline(chunk, 0, length); at !== -1; at = nextNewline(chunk, at + 1, length)) {
        line++;
        if (line === first) start = at + 1;
        if (line === first + count) {
          end = at + 1;
          break;
        }
      }
      kept.push(Buffer.from(chunk.subarray(start, end)));
    }
    return Buffer.concat(kept).toString();
  } finally {
    closeSync(fd);
  }
}

function nextNewline(chunk: Buffer, from: number, length: number): number {
  const at = chunk.indexOf(0x0a, from);
  return at < length ? at : -1;
}

async function readsInFlight({ tree, octant, noOp, effort, random }: Bench) {
  const name = "32 reads in flight";
  const requests = Array.from({ length: CALLS_PER_SAMPLE }, (_, n) => ({
    action: "read",
    uri: smallFile(tree, n),
  }));
  const rateOf = (server: RpcServer, tool: string) => {
    const lines = requests.map((request, id) => toCallLine(tool, request, id));
    return async () => {
      const start = performance.now();
      const last = await server.stream(lines, IN_FLIGHT);
      const seconds = (performance.now() - start) / 1000;
      toData(last, name);
      return lines.length / seconds;
    };
  };
  await rememberAnswer(noOp, await octant.exchange(toCallLine("fs", requests[0] ?? {})));
  const rates = await interleave(
    { octant: rateOf(octant, "fs"), noOp: rateOf(noOp, "no_op") },
    effort,
    random,
  );
  const figure = rates.octant.p50 / rates.noOp.p50;
  return {
    name,
    unit: "calls/s",
    ...rates,
    figure,
    bar: atLeast(0.6),
    note: "floor: the no-op's rate",
  } as const;
}
