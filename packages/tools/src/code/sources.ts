import { type Position, type Range, ToolError } from "@octant/core";
import { type Path, readSourceText, type SourceText, type Workspace } from "@octant/host";
import {
  type Call,
  languageOf,
  type Occurrence,
  type ParserPool,
  type SourceSymbol,
  type StructureMatch,
} from "@octant/search";
import { toSymbolId } from "./symbol-id.ts";

/**
 * Files as code: text, lines and symbols. All parsing runs in other threads; a file that takes too long or too much
 * memory is a TIMEOUT or LIMIT_EXCEEDED, which `isUnparsable` recognises.
 */
export interface Sources {
  read(path: Path): SourceText;
  /** undefined for a file that has been removed, or is not text. */
  readIfThere(path: Path): SourceText | undefined;
  /** The symbols of the current file, or of the given text; none without a grammar for its language. */
  symbols(path: Path, read?: SourceText): Promise<readonly SourceSymbol[]>;
  /** The innermost symbol around a position. */
  enclosing(path: Path, position: Position, read?: SourceText): Promise<SourceSymbol | undefined>;
  occurrences(source: SourceText, name: string): Promise<readonly Occurrence[]>;
  /** All calls, or only those of one name. */
  calls(source: SourceText, name?: string): Promise<readonly Call[]>;
  syntaxErrors(source: SourceText): Promise<readonly { readonly range: Range; readonly message: string }[]>;
  /** undefined when the pattern does not parse in the file's language. */
  structures(
    source: Pick<SourceText, "path" | "text" | "hash">,
    pattern: string,
  ): Promise<readonly StructureMatch[] | undefined>;
  symbolId(path: Path, symbol: Pick<SourceSymbol, "path">): string;
}

const MAX_CACHED_FILES = 256;

export function createSources({ confinement }: Pick<Workspace, "confinement">, parsers: ParserPool): Sources {
  const known = new Map<string, Promise<readonly SourceSymbol[]>>();

  const symbols: Sources["symbols"] = async (path, read) => {
    const language = languageOf(path);
    if (!language) return [];
    const source = read ?? readSourceText(confinement, path);
    const key = `${language.id} ${source.hash}`;
    const found = known.get(key) ?? parsers.call("symbols", path, source.text);
    cache(known, key, found, MAX_CACHED_FILES);
    return found.catch((cause: unknown) => {
      known.delete(key);
      throw cause;
    });
  };

  return {
    read: (path) => readSourceText(confinement, path),
    readIfThere(path) {
      try {
        return readSourceText(confinement, path);
      } catch (cause) {
        if (cause instanceof ToolError) return undefined;
        throw cause;
      }
    },
    symbols,
    async enclosing(path, position, read) {
      const around = (await symbols(path, read)).filter(({ range }) => holds(range, position));
      // They are sorted by their start, so the last one is the innermost.
      return around.at(-1);
    },
    occurrences: (source, name) => parsers.call("occurrences", source.path, source.text, name),
    calls: (source, name) => parsers.call("calls", source.path, source.text, name),
    syntaxErrors: (source) => parsers.call("syntaxErrors", source.path, source.text),
    structures: (source, pattern) => parsers.call("structures", source.path, source.text, pattern),
    symbolId: (path, symbol) => toSymbolId(confinement, path, symbol.path),
  };
}

/** Whether a parser gave up on a file. */
export const isUnparsable = (cause: unknown): cause is ToolError =>
  cause instanceof ToolError && (cause.code === "TIMEOUT" || cause.code === "LIMIT_EXCEEDED");

/** Inserts the entry as the newest and evicts the oldest beyond the limit. */
function cache<V>(map: Map<string, V>, key: string, value: V, limit: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) if (map.size > limit) map.delete(oldest);
}

/** The end counts too: a cursor right after a word is still at it. */
export const holds = ({ start, end }: Range, at: Position): boolean =>
  compare(start, at) <= 0 && compare(at, end) <= 0;

export const compare = (a: Position, b: Position): number => a.line - b.line || a.col - b.col;
