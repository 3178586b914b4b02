import { type Position, type Range, ToolError } from "@octant/core";
import { type Path, readSourceText, type SourceText, type Spot, type Workspace } from "@octant/host";
import { languageOf, type ParserPool, type SourceSymbol } from "@octant/search";
import { toSymbolId } from "./position-input.ts";
import { prefixAt, wordAt, wordsOf } from "./words.ts";

export type Sources = ReturnType<typeof createSources>;

const MAX_CACHED_FILES = 256;

/**
 * Files as code: text, lines and symbols. All parsing runs in other threads; a file that takes too long or too much
 * memory is a TIMEOUT or LIMIT_EXCEEDED, which `isUnparsable` recognises.
 */
export function createSources({ confinement }: Pick<Workspace, "confinement">, parsers: ParserPool) {
  const known = new Map<string, Promise<readonly SourceSymbol[]>>();

  const symbols = async (path: Path, read?: SourceText): Promise<readonly SourceSymbol[]> => {
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
    read: (path: Path): SourceText => readSourceText(confinement, path),
    /** undefined for a file that has been removed, or is not text. */
    readIfThere(path: Path): SourceText | undefined {
      try {
        return readSourceText(confinement, path);
      } catch (cause) {
        if (cause instanceof ToolError) return undefined;
        throw cause;
      }
    },
    /** The name at a position. */
    nameAt: ({ path, position, source }: Spot) =>
      wordAt(source ?? readSourceText(confinement, path), position)?.text,
    /** The symbols of the current file, or of the given text; none without a grammar for its language. */
    symbols,
    /** The innermost symbol around a position. */
    async enclosing(path: Path, position: Position, read?: SourceText): Promise<SourceSymbol | undefined> {
      // They are sorted by their start, so the last one is the innermost.
      return (await symbols(path, read)).findLast(({ range }) => holds(range, position));
    },
    /** The symbols and words of the file that start like the one at the position. */
    async completion({ path, position }: Spot) {
      const source = readSourceText(confinement, path);
      const prefix = prefixAt(source, position);
      const own = await symbols(path);
      const known = new Map(own.map(({ name, kind, signature }) => [name, { kind, detail: signature }]));
      return [...new Set([...known.keys(), ...wordsOf(source)])]
        .filter((name) => name !== prefix && name.startsWith(prefix))
        .map((label) => ({ label, ...known.get(label) }));
    },
    occurrences: ({ path, text }: SourceText, name: string) => parsers.call("occurrences", path, text, name),
    calls: ({ path, text }: SourceText) => parsers.call("calls", path, text),
    syntaxErrors: ({ path, text }: SourceText) => parsers.call("syntaxErrors", path, text),
    /** undefined when the pattern does not parse in the file's language. */
    structures: ({ path, text }: Pick<SourceText, "path" | "text">, pattern: string) =>
      parsers.call("structures", path, text, pattern),
    symbolId: (path: Path, symbol: Pick<SourceSymbol, "path">) => toSymbolId(confinement, path, symbol.path),
  };
}

/** Whether a parser gave up on a file. */
export const isUnparsable = (cause: unknown): cause is ToolError =>
  cause instanceof ToolError && (cause.code === "TIMEOUT" || cause.code === "LIMIT_EXCEEDED");

/** Files that are read ahead of the parsers. */
const CONCURRENCY = 16;

/**
 * Finds something in every file that still exists, several at once; the results of a batch come in the order of the
 * files. Unparsable files go to `onUnparsable`.
 */
export async function* parseMany<T>(
  sources: Pick<Sources, "readIfThere">,
  files: readonly Path[],
  signal: AbortSignal,
  work: (source: SourceText) => Promise<readonly T[]>,
  onUnparsable: (source: SourceText) => readonly T[],
): AsyncGenerator<T[], void> {
  for (let at = 0; at < files.length; at += CONCURRENCY) {
    signal.throwIfAborted();
    const batch = files.slice(at, at + CONCURRENCY).map(async (file) => {
      const source = sources.readIfThere(file);
      if (!source) return [];
      try {
        return await work(source);
      } catch (cause) {
        if (isUnparsable(cause)) return onUnparsable(source);
        throw cause;
      }
    });
    yield (await Promise.all(batch)).flat();
  }
}

/** The same, all at once. */
export const parseAll = async <T>(...args: Parameters<typeof parseMany<T>>): Promise<T[]> =>
  (await Array.fromAsync(parseMany(...args))).flat();

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
