import { extname } from "node:path/posix";
import { ToolError } from "@octant/core";
import { comparePaths, isWithin, type Path, presentRoots, type Workspace } from "@octant/host";
import {
  LANGUAGES,
  type Language,
  languageOf,
  type SearchEngine,
  type StoredSymbol,
  type SymbolKind,
  spellingsOf,
} from "@octant/search";
import { asAnyOf, createNames, filesWith, thoseNaming } from "../search/source-files.ts";

/** `file` is absolute. */
type FoundSymbol = StoredSymbol & { readonly file: Path };

/** The part of the search engine that knows symbols. */
export type SymbolIndex = Pick<
  SearchEngine,
  "current" | "index" | "indexFirst" | "poll" | "progress" | "symbols" | "unparsed"
>;

export interface SymbolQuery {
  readonly query: string;
  /** Other names that it may have. */
  readonly also?: readonly string[] | undefined;
  readonly kind?: SymbolKind | undefined;
  /** A folder or a file. */
  readonly scope?: Path | undefined;
  readonly limit: number;
  /** Files to leave out. */
  hides?(path: Path): boolean;
}

export type SymbolSearch = ReturnType<typeof createSymbolSearch>;

export interface SymbolAnswer {
  readonly symbols: readonly FoundSymbol[];
  /** Files with the name that a parser gave up on. */
  readonly unparsed: readonly Path[];
  /** Files with the name that were not parsed, because there are too many and the index is incomplete. */
  readonly waiting: number;
}

const MAX_NAMED = 64;
/** Files parsed for one query while the index is incomplete. */
const MAX_FIRST_FILES = 1_000;

/** Finds symbols in the whole project. Until the index is complete, the files with the name are indexed first. */
export function createSymbolSearch(
  workspace: Pick<Workspace, "confinement" | "ripgrep">,
  index: SymbolIndex,
) {
  const { confinement } = workspace;
  const { toName, toPath } = createNames(confinement.roots);

  /** Files of the same language that contain the name as a word, in path order. */
  const filesNaming = async (name: string, language: Language, signal: AbortSignal): Promise<Path[]> => {
    const globs = familyOf(language).flatMap(toGlobs);
    return [...(await filesWith(workspace, asWord(name), { globs, signal }))].sort(comparePaths);
  };
  /** Returns how many of the files had to be left out. */
  const prepare = async (findFiles: () => Promise<readonly Path[]>, signal: AbortSignal): Promise<number> => {
    index.poll();
    const { state } = await index.progress();
    if (state === "fresh") return 0;
    // The files answer meanwhile, so a failure here loses nothing; search.index reports it.
    if (state !== "indexing") index.index({ signal: NEVER }).catch(() => {});
    const files = await findFiles();
    await index.indexFirst(files.slice(0, MAX_FIRST_FILES).map(toName), signal);
    signal.throwIfAborted();
    return Math.max(0, files.length - MAX_FIRST_FILES);
  };
  const fromIndex = async (
    { query, also = [], scope, limit, kind, exact = false }: SymbolQuery & { exact?: boolean },
    signal: AbortSignal,
  ): Promise<FoundSymbol[]> => {
    const within = scope !== undefined && scope !== confinement.roots[0] && { scope: toName(scope) };
    const options = { limit, exact, also, ...(kind && { kind }), ...within };
    const ask = () => index.symbols(query, options);
    const stored = await index.current(ask, ({ file }) => file, signal);
    return stored.map((symbol) => ({ ...symbol, file: toPath(symbol.file) }));
  };
  /** Asks for more until enough of them are visible. */
  const visible = async (query: SymbolQuery, signal: AbortSignal): Promise<readonly FoundSymbol[]> => {
    for (let limit = query.limit; ; limit *= 4) {
      const all = await fromIndex({ ...query, limit }, signal);
      const shown = all.filter(({ file }) => !query.hides?.(file));
      if (shown.length >= query.limit || all.length < limit) return shown.slice(0, query.limit);
    }
  };

  return {
    /** Best first: the exact name, then prefixes, then substrings, then similar names. */
    async search(query: SymbolQuery, signal: AbortSignal): Promise<SymbolAnswer> {
      const { scope, hides, also = [] } = query;
      const name = query.query.split(SEPARATOR).at(-1) || query.query;
      const names = [name, ...also.flatMap(spellingsOf)];
      const findFiles = async () => {
        const list = (folders: readonly Path[]) =>
          filesWith(workspace, asAnyOf(names), { globs: GLOBS, folders, signal });
        return [...(await filesIn(confinement, scope, list))].filter((file) => !hides?.(file));
      };
      const waiting = await prepare(findFiles, signal);
      const isWanted = (path: Path) => isWithin(scope ?? "/", path) && !hides?.(path);
      const symbols = await visible(query, signal);
      const skipped = (await index.unparsed()).map(toPath).filter(isWanted);
      const unparsed = await thoseNaming(workspace, skipped, names, { globs: GLOBS, signal });
      return { symbols, unparsed, waiting };
    },
    filesNaming,
    /** Files of every kind that contain the word, in path order. */
    filesWithWord: async (word: string, signal: AbortSignal): Promise<Path[]> =>
      [...(await filesWith(workspace, asWord(word), { signal }))].sort(comparePaths),
    /** Symbols with exactly this name in files of the same language. */
    async named(name: string, language: Language, signal: AbortSignal): Promise<FoundSymbol[]> {
      await prepare(() => filesNaming(name, language, signal), signal);
      const family: readonly (Language | undefined)[] = familyOf(language);
      const found = await fromIndex({ query: name, limit: MAX_NAMED, exact: true }, signal);
      return found.filter(
        ({ file, ...symbol }) =>
          symbol.name === name && family.includes(languageOf(file)) && confinement.denied(file) === undefined,
      );
    },
  };
}

const asWord = (word: string) => ({ pattern: word, fixed: true, word: true, case: "sensitive" }) as const;

const NEVER = new AbortController().signal;

/** `Outer.inner` asks for an inner of Outer. */
const SEPARATOR = /\.|::|#|->/;

/** Languages that see each other's symbols. */
const FAMILIES: readonly (readonly string[])[] = [
  ["typescript", "tsx", "javascript"],
  ["c", "cpp"],
];

function familyOf(language: Language): readonly Language[] {
  const family = FAMILIES.find((ids) => ids.includes(language.id)) ?? [language.id];
  return LANGUAGES.filter(({ id }) => family.includes(id));
}

/** Whether code in one file may use symbols of the other, by their kinds. */
export function isRelated(path: Path, other: Path): boolean {
  const [language, own] = [languageOf(path), languageOf(other)];
  if (language && own) return familyOf(language).includes(own);
  return language === own && extname(path) === extname(other);
}

export const toGlobs = ({ extensions, filenames = [] }: Language): string[] => [
  ...extensions.map((extension) => `*${extension}`),
  ...filenames,
];
const GLOBS = LANGUAGES.flatMap(toGlobs);

/** A file stands for itself; a folder is walked. */
export async function filesIn(
  confinement: Workspace["confinement"],
  scope: Path | undefined,
  list: (folders: readonly Path[]) => Promise<Iterable<Path>>,
): Promise<Iterable<Path>> {
  if (scope === undefined) return list(presentRoots(confinement).present);
  try {
    using folder = confinement.openFolder(scope);
    return await list([folder.path]);
  } catch (cause) {
    if (!(cause instanceof ToolError && cause.code === "NOT_A_DIRECTORY")) throw cause;
    using file = confinement.openFile(scope);
    return [file.path];
  }
}
