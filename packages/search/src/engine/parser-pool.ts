import type { StructureMatch } from "../structure/find-structures.ts";
import type { Occurrence } from "../syntax/occurrences.ts";
import type { IndexedFile } from "./code-index.ts";
import type { ParserCalls } from "./parser-entry.ts";
import type { FileState } from "./store.ts";
import { startThread, type Thread } from "./thread.ts";

/** Threads that take files apart. */
export interface ParserPool {
  /** The file for the index, as one text. One that no parser survives is known by its name alone. */
  parse(state: FileState, text: string): Promise<string>;
  /** undefined when the pattern is no code of the file's language. */
  structures(path: string, text: string, pattern: string): Promise<StructureMatch[] | undefined>;
  occurrences(path: string, text: string, name: string): Promise<Occurrence[]>;
  close(): Promise<void>;
}

/** A parser that needs more has met a file that is not worth it. */
const MAX_HEAP_MB = 256;
const YOUNG_HEAP_MB = 8;

export function createParserPool(size: number): ParserPool {
  const start = () =>
    startThread<ParserCalls>("parser", import.meta.url, null, {
      maxOldGenerationSizeMb: MAX_HEAP_MB,
      maxYoungGenerationSizeMb: YOUNG_HEAP_MB,
    });
  const parsers: Thread<ParserCalls>[] = [];
  let turn = 0;
  let isClosed = false;
  let alone = Promise.resolve("");

  const next = (): Thread<ParserCalls> => {
    const place = turn++ % size;
    const parser = parsers[place];
    if (parser && !parser.hasEnded) return parser;
    const fresh = start();
    parsers[place] = fresh;
    return fresh;
  };
  /** In a thread of its own, one after the other: of many that went down together only the guilty one fails again. */
  const parseAlone = async (state: FileState, text: string): Promise<string> => {
    const parser = start();
    try {
      return await parser.call("parse", state, text);
    } catch {
      const unknown: IndexedFile = { state, parsed: { symbols: [], chunks: [] } };
      return JSON.stringify(unknown);
    } finally {
      await parser.close();
    }
  };

  return {
    async parse(state, text) {
      try {
        return await next().call("parse", state, text);
      } catch (cause) {
        if (isClosed) throw cause;
        alone = alone.then(() => parseAlone(state, text));
        return alone;
      }
    },
    structures: (path, text, pattern) => next().call("structures", path, text, pattern),
    occurrences: (path, text, name) => next().call("occurrences", path, text, name),
    async close() {
      isClosed = true;
      await Promise.all(parsers.map((parser) => parser.close()));
    },
  };
}
