import type { Range } from "@octant/core";
import type { Path, SourcePlace, SourceText, Spot } from "@octant/host";
import { languageOf, type Occurrence } from "@octant/search";
import type { Code } from "./code.ts";
import { holds, isUnparsable, parseAll } from "./sources.ts";
import { isRelated } from "./symbol-search.ts";
import { lineAt, wordsNamed } from "./words.ts";

/** A place in code where a name occurs, whatever symbol is meant. */
export interface NamedUse extends SourcePlace, Pick<Occurrence, "role" | "within"> {}

/** The uses of a name according to words and syntax: a cross-check for every answer about uses. */
export interface NamedUses {
  /** undefined where there is no name at the position. */
  readonly name: string | undefined;
  readonly uses: readonly NamedUse[];
  /** How often the word occurs in comments, strings and other text of the same files. */
  readonly inText: number;
  /** Files of other kinds, or of another server, that contain the word. */
  readonly elsewhere: readonly Path[];
  /** Files with the word that were not read: too large, not text, or too many. */
  readonly unread: readonly Path[];
}

const MAX_READ_FILES = 1_000;

/** All places where the name at a position occurs in code of its language; only in one range if that is given. */
export async function usesByName(
  code: Code,
  spot: Spot,
  { signal, isHidden, within, covers = () => true }: NameSearch,
): Promise<NamedUses> {
  const name = code.sources.nameAt(spot);
  if (name === undefined) return { name, ...NONE };
  if (within) {
    const { uses } = await usesIn(code, [spot.path], name, signal);
    return { name, ...NONE, uses: uses.filter(({ range }) => holds(within, range.start)) };
  }
  const files = (await code.symbols.filesWithWord(name, signal)).filter((path) => !isHidden(path));
  const isSearched = (path: Path) => isRelated(path, spot.path) && covers(path);
  const related = files.filter(isSearched);
  const found = await usesIn(code, related.slice(0, MAX_READ_FILES), name, signal);
  return {
    name,
    ...found,
    elsewhere: files.filter((path) => !isSearched(path)),
    unread: [...found.unread, ...related.slice(MAX_READ_FILES)],
  };
}

export interface NameSearch {
  readonly signal: AbortSignal;
  isHidden(path: Path): boolean;
  readonly within?: Range | undefined;
  /** The files that the answer is about. */
  covers?(path: Path): boolean;
}

const NONE = { uses: [], inText: 0, elsewhere: [], unread: [] } as const;

async function usesIn({ sources }: Code, files: readonly Path[], name: string, signal: AbortSignal) {
  const read = new Set<Path>();
  let inText = 0;
  const byWords = (source: SourceText): NamedUse[] =>
    wordsNamed(source, name).map(({ range }) => ({ path: source.path, range, role: "use", within: null }));
  const uses = await parseAll(
    sources,
    files,
    signal,
    async (source): Promise<NamedUse[]> => {
      read.add(source.path);
      const words = byWords(source);
      if (!languageOf(source.path)) return words;
      const found = await sources.occurrences(source, name);
      inText += words.length - found.length;
      return found.map((one) => ({ path: source.path, ...one }));
    },
    // Prefers too many matches to too few.
    byWords,
  );
  return { uses, inText: Math.max(0, inText), unread: files.filter((path) => !read.has(path)) };
}

/** The function that a symbol is local to, so that its uses cannot be elsewhere. */
export async function localScopeOf(
  { sources }: Code,
  [definition, ...others]: readonly SourcePlace[],
): Promise<Range | undefined> {
  if (!definition || others.some(({ path }) => path !== definition.path)) return undefined;
  const source = sources.readIfThere(definition.path);
  if (!source) return undefined;
  const { start, end } = definition.range;
  const around = await sources.enclosing(source.path, start, source).catch((cause: unknown) => {
    if (isUnparsable(cause)) return undefined;
    throw cause;
  });
  if (!around || !FUNCTIONS.has(around.kind) || holds(around.nameRange, start)) return undefined;
  const line = lineAt(source.text, start.line);
  const isMember = /[.>@$]\s*$/.test(line.slice(0, start.col)) || /^\s*:(?![:=])/.test(line.slice(end.col));
  return isMember ? undefined : around.range;
}

const FUNCTIONS: ReadonlySet<string> = new Set(["function", "method", "constructor"]);
