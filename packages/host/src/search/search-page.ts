import { Hash, Range, Uri } from "@octant/core";
import { z } from "zod";
import type { Confinement } from "../confinement.ts";
import { comparePaths, type Path, pathToUri } from "../path.ts";
import { type Block, parseBlock, type Submatch } from "./ripgrep-messages.ts";
import { excerptOf } from "./search-excerpt.ts";
import { createLocator } from "./search-locate.ts";
import { openSource, type Source } from "./search-source.ts";

export const TextMatch = z.object({
  uri: Uri,
  range: Range,
  text: z.string().describe("The matching line or lines"),
  text_truncated: z.literal(true).optional().describe("The line was shortened"),
  before: z.array(z.string()).readonly().optional(),
  after: z.array(z.string()).readonly().optional(),
  hash: Hash.nullable().describe("File hash; null above 64 MiB"),
});
export type TextMatch = z.output<typeof TextMatch>;

/** The last match that was dealt with. */
export const SearchPosition = z.object({
  path: z.string(),
  /** Where it starts, in bytes. */
  offset: z.int().min(0),
  /** How many matches came up to here, itself included. */
  passed: z.int().min(0),
});
export type SearchPosition = z.output<typeof SearchPosition>;

/** Some or all matches of one file; parts arrive in order. */
export interface FileMatches {
  readonly path: Path;
  /** One JSON message of ripgrep each. */
  readonly blocks: readonly Buffer[];
  /** How many matches the file has, where that is known without looking at the blocks. */
  readonly count?: number;
}

export interface PageOptions {
  readonly maxPerFile?: number;
  readonly context: number;
  readonly limit: number;
  /** Of text. */
  readonly maxBytes: number;
  /** Where the page before ended. */
  readonly after?: SearchPosition;
}

export type Page = ReturnType<typeof createPage>;

/** Takes matches in order until it is full. It reads each file itself and drops matches that no longer exist. */
export function createPage(
  confinement: Confinement,
  { maxPerFile = Number.POSITIVE_INFINITY, context, limit, maxBytes, after: previous }: PageOptions,
  signal: AbortSignal,
) {
  const matches: TextMatch[] = [];
  let bytes = 0;
  let full = false;
  let passed = previous?.passed ?? 0;
  let left = 0;
  let last: SearchPosition | undefined;
  let file: OpenFile | undefined;

  /** False when it does not fit. */
  const take = async (opened: OpenFile, block: Block, submatch: Submatch): Promise<boolean> => {
    signal.throwIfAborted();
    if (matches.length >= limit) return false;
    const match = await opened.read(block, submatch, context);
    const size = match ? textBytes(match) : 0;
    if (match && matches.length > 0 && bytes + size > maxBytes) return false;
    if (match) matches.push(match);
    bytes += size;
    passed++;
    last = { path: opened.path, offset: block.offset + submatch.start, passed };
    return true;
  };

  const addBlocks = async (opened: OpenFile, blocks: readonly Buffer[], after?: SearchPosition) => {
    for (const json of blocks) {
      const block = parseBlock(json);
      for (const submatch of block.submatches) {
        if (opened.seen >= maxPerFile) return;
        const isBefore = after?.path === opened.path && block.offset + submatch.start <= after.offset;
        full = !isBefore && !(await take(opened, block, submatch));
        if (full) return;
        opened.seen++;
      }
    }
  };

  return {
    matches,
    /** True once there was a match that had no room. */
    get full() {
      return full;
    },
    get last() {
      return last;
    },
    /** Matches before the page and on it, and as many of the later ones as were counted. */
    get total() {
      return passed + left;
    },
    /** Answers whether there is room for more. */
    async add({ path, blocks, count = 0 }: FileMatches, after?: SearchPosition) {
      if (after && comparePaths(path, after.path) < 0) return !full;
      if (file?.path !== path) {
        file?.[Symbol.dispose]();
        file = createOpenFile(confinement, path);
      }
      if (!full) await addBlocks(file, blocks, after);
      if (full) left += Math.max(0, Math.min(count, maxPerFile) - file.seen);
      return !full;
    },
    [Symbol.dispose]: () => file?.[Symbol.dispose](),
  };
}

const textBytes = ({ text, before = [], after = [] }: TextMatch): number =>
  [text, ...before, ...after].reduce((sum, line) => sum + Buffer.byteLength(line), 0);

type OpenFile = ReturnType<typeof createOpenFile>;

/** A file whose matches are being read; it is opened when the first is needed. */
function createOpenFile(confinement: Confinement, path: Path) {
  const uri = pathToUri(path);
  let opening: Promise<Source | undefined> | undefined;
  let source: Source | undefined;
  let locate: ReturnType<typeof createLocator> | undefined;

  return {
    path,
    /** How many of its matches were dealt with, here or on an earlier page. */
    seen: 0,
    async read(block: Block, submatch: Submatch, context: number): Promise<TextMatch | undefined> {
      opening ??= openSource(confinement, path);
      source = await opening;
      if (!source) return undefined;
      locate ??= createLocator(source);
      const found = await locate(block, submatch);
      if (!found) return undefined;
      const { text, before, after, truncated } = excerptOf(source, found, context);
      return {
        uri,
        range: found.range,
        text,
        ...(truncated && { text_truncated: true }),
        ...(context > 0 && { before, after }),
        hash: source.hash,
      };
    },
    [Symbol.dispose]: () => source?.[Symbol.dispose](),
  };
}
