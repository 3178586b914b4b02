import { ToolError } from "@octant/core";
import type { StructureMatch } from "../structure/find-structures.ts";
import type { Call, Occurrence } from "../syntax/occurrences.ts";
import type { SourceSymbol } from "../syntax/symbols.ts";
import type { SyntaxFault } from "../syntax/syntax-errors.ts";
import { encodeFile } from "./packed-file.ts";
import type { ParserCalls } from "./parser-entry.ts";
import type { FileState } from "./store.ts";
import { startThread } from "./thread.ts";
import { createThreadQueue } from "./thread-queue.ts";
import { createUnparsableFiles, type UnparsableFiles } from "./unparsable-files.ts";

/**
 * A pool of parser threads, the only place where Octant parses source code. A file that takes too long is a TIMEOUT, one
 * that needs too much memory LIMIT_EXCEEDED; the next call for the same text gets that error at once.
 */
export interface ParserPool {
  /**
   * The file for the index, as written by `encodeFile`. A file that fails to parse is indexed by its path
   * only.
   */
  parse(state: FileState, text: string): Promise<Uint8Array>;
  /** undefined when the pattern does not parse in the file's language. */
  structures(path: string, text: string, pattern: string): Promise<StructureMatch[] | undefined>;
  occurrences(path: string, text: string, name: string): Promise<Occurrence[]>;
  symbols(path: string, text: string): Promise<SourceSymbol[]>;
  /** All calls, or only those of one name. */
  calls(path: string, text: string, name?: string): Promise<Call[]>;
  syntaxErrors(path: string, text: string): Promise<SyntaxFault[]>;
  close(): Promise<void>;
}

/** Files that need more are usually generated. */
const MAX_HEAP_MB = 256;
const YOUNG_HEAP_MB = 8;
const DEADLINE_MS = 5_000;

export function createParserPool(
  size: number,
  unparsable: UnparsableFiles = createUnparsableFiles(),
): ParserPool {
  const parsers = createThreadQueue<ParserCalls>({
    size,
    deadlineMs: DEADLINE_MS,
    heapBytes: MAX_HEAP_MB * 1024 * 1024,
    start: () =>
      startThread<ParserCalls>("parser", import.meta.url, null, {
        maxOldGenerationSizeMb: MAX_HEAP_MB,
        maxYoungGenerationSizeMb: YOUNG_HEAP_MB,
      }),
  });
  return {
    async parse(state, text) {
      try {
        return await unparsable.parse(state.path, text, () => parsers.call("parse", state, text));
      } catch (cause) {
        if (!(cause instanceof ToolError)) throw cause;
        return encodeFile({ state, parsed: { symbols: [], chunks: [] } });
      }
    },
    async structures(path, text, pattern) {
      // Not cached: the pattern may be the cause of the delay.
      unparsable.check(path, text);
      return parsers.call("structures", path, text, pattern);
    },
    occurrences: (path, text, name) =>
      unparsable.parse(path, text, () => parsers.call("occurrences", path, text, name)),
    symbols: (path, text) => unparsable.parse(path, text, () => parsers.call("symbols", path, text)),
    calls: (path, text, name) => unparsable.parse(path, text, () => parsers.call("calls", path, text, name)),
    syntaxErrors: (path, text) =>
      unparsable.parse(path, text, () => parsers.call("syntaxErrors", path, text)),
    close: parsers.close,
  };
}
