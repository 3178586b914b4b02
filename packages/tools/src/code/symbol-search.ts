import { ToolError } from "@octant/core";
import {
  comparePaths,
  type Path,
  pathToUri,
  presentRoots,
  type TextPattern,
  type Workspace,
} from "@octant/host";
import {
  byFit,
  LANGUAGES,
  type Language,
  languageOf,
  type SearchEngine,
  type SourceSymbol,
  type StoredSymbol,
  type SymbolKind,
  type SymbolOptions,
} from "@octant/search";
import { parseMany, type Sources } from "./sources.ts";

type FoundSymbol = Omit<SourceSymbol, "start" | "end"> & { readonly file: Path };

/** The part of the search engine that knows symbols. */
export interface SymbolIndex extends Pick<SearchEngine, "index" | "indexFirst" | "poll" | "status"> {
  /** Best first. `file` is relative to the first root, or absolute. */
  symbols(name: string, options: SymbolOptions): Promise<readonly StoredSymbol[]>;
}

export interface SymbolQuery {
  readonly query: string;
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
  /** Files that a parser gave up on. */
  readonly unparsed: readonly Path[];
  /** Files with the name that were not parsed, because there are too many and the index is incomplete. */
  readonly waiting: number;
}

const MAX_NAMED = 64;
/** Files parsed for one query while the index is incomplete. */
const MAX_PARSED_FILES = 1_000;
/** More rounds would not help while a program rewrites the project. */
const MAX_ROUNDS = 3;

/** Finds symbols in the whole project: from the index once it is complete, until then from the files. */
export function createSymbolSearch(
  { confinement, ripgrep }: Pick<Workspace, "confinement" | "ripgrep">,
  sources: Sources,
  index: SymbolIndex | undefined,
) {
  /** Files that contain the text, in path order. */
  const filesWith = async (
    pattern: Omit<TextPattern, "fixed" | "maxPerFile">,
    globs: readonly string[],
    folders: readonly Path[],
    signal: AbortSignal,
  ) => {
    const files: Path[] = [];
    for (const folder of folders) {
      const first = { ...pattern, fixed: true, maxPerFile: 1 };
      for await (const messages of ripgrep.searchFolder(folder, first, { globs, order: "any", signal }))
        for (const one of messages) if (one.kind === "begin") files.push(one.path);
    }
    return files.sort(comparePaths);
  };
  const filesNaming = (name: string, language: Language, signal: AbortSignal): Promise<Path[]> => {
    // Next to a symbol such as `$` ripgrep sees no word boundary.
    const pattern = { pattern: name, word: /^\w+$/.test(name), case: "sensitive" } as const;
    return filesWith(pattern, familyOf(language).flatMap(toGlobs), presentRoots(confinement).present, signal);
  };
  const parse = async (files: readonly Path[], signal: AbortSignal) => {
    const unparsed: Path[] = [];
    const found = await parseMany(
      sources,
      files.slice(0, MAX_PARSED_FILES),
      signal,
      async (source) =>
        (await sources.symbols(source.path, source)).map((symbol) => ({ ...symbol, file: source.path })),
      ({ path }) => {
        unparsed.push(path);
        return [];
      },
    );
    return { symbols: found.flat(), unparsed };
  };
  const scan = async (asked: SymbolQuery, signal: AbortSignal): Promise<SymbolAnswer> => {
    const { query, kind, scope, limit, hides } = asked;
    const own = ownName(query);
    const bestFit = byFit(query);
    const found = await filesIn(confinement, scope, (folders) =>
      filesWith({ pattern: own, case: "insensitive" }, GLOBS, folders, signal),
    );
    const files = found.filter((file) => !hides?.(file));
    const { symbols, unparsed } = await parse(files, signal);
    const rest = new Set(files.slice(MAX_PARSED_FILES));
    const indexed = index && rest.size > 0 ? await fromIndex(asked, index, signal) : [];
    const ranked = [...symbols, ...indexed.filter(({ file }) => rest.has(file))]
      .filter((symbol) => kind === undefined || symbol.kind === kind)
      .flatMap((symbol) => {
        const rank = rankOf(symbol, query);
        return rank === undefined ? [] : [{ symbol, rank }];
      })
      .sort((a, b) => a.rank - b.rank || bestFit(a.symbol, b.symbol));
    return {
      symbols: ranked.slice(0, limit).map(({ symbol }) => symbol),
      unparsed,
      waiting: rest.size,
    };
  };
  /** Asks again as long as files of the answer have changed since they were indexed. */
  const fromIndex = async (
    { query, scope, limit, kind, exact = false }: SymbolQuery & { exact?: boolean },
    from: SymbolIndex,
    signal: AbortSignal,
  ) => {
    const within = scope === undefined ? undefined : toIndexPath(confinement.roots[0] ?? "/", scope);
    const options = {
      limit,
      exact,
      ...(kind && { kind }),
      ...(within !== undefined && within !== "" && { scope: within }),
    };
    for (let round = 1; ; round++) {
      const stored = await from.symbols(query, options);
      const { hasChanged } = await from.indexFirst([...new Set(stored.map(({ file }) => file))], signal);
      signal.throwIfAborted();
      if (!hasChanged || round === MAX_ROUNDS)
        return stored.map((symbol) => ({ ...symbol, file: confinement.toPath(symbol.file) }));
    }
  };
  /** Asks for more until enough of them are visible. */
  const visibleFromIndex = async (
    query: SymbolQuery,
    from: SymbolIndex,
    signal: AbortSignal,
  ): Promise<readonly FoundSymbol[]> => {
    for (let limit = query.limit; ; limit *= 4) {
      const all = await fromIndex({ ...query, limit }, from, signal);
      const visible = all.filter(({ file }) => !query.hides?.(file));
      if (visible.length >= query.limit || all.length < limit) return visible.slice(0, query.limit);
    }
  };
  /** The index, when it is up to date for all files; otherwise starts updating it for the next query. */
  const completeIndex = async (): Promise<SymbolIndex | undefined> => {
    if (!index) return undefined;
    index.poll();
    const { state } = await index.status();
    if (state === "fresh") return index;
    // The files answer meanwhile, so a failure here loses nothing; search.index reports it.
    if (state !== "indexing") index.index({ signal: NEVER }).catch(() => {});
    return undefined;
  };

  return {
    /** Best first: the exact name, then prefixes, then substrings. */
    async search(query: SymbolQuery, signal: AbortSignal): Promise<SymbolAnswer> {
      const complete = await completeIndex();
      if (!complete) return scan(query, signal);
      return { symbols: await visibleFromIndex(query, complete, signal), unparsed: [], waiting: 0 };
    },
    /** Files of the same language that contain the name as a word, in path order. */
    filesNaming,
    /** Symbols with exactly this name in files of the same language. */
    async named(name: string, language: Language, signal: AbortSignal): Promise<FoundSymbol[]> {
      const complete = await completeIndex();
      const found = complete
        ? await fromIndex({ query: name, limit: MAX_NAMED, exact: true }, complete, signal)
        : (await parse(await filesNaming(name, language, signal), signal)).symbols;
      const family: readonly (Language | undefined)[] = familyOf(language);
      return found
        .filter((symbol) => symbol.name === name && family.includes(languageOf(symbol.file)))
        .slice(0, MAX_NAMED);
    },
  };
}

const NEVER = new AbortController().signal;

/** Languages that see each other's symbols. */
const FAMILIES: readonly (readonly string[])[] = [
  ["typescript", "tsx", "javascript"],
  ["c", "cpp"],
];

function familyOf(language: Language): readonly Language[] {
  const family = FAMILIES.find((ids) => ids.includes(language.id)) ?? [language.id];
  return LANGUAGES.filter(({ id }) => family.includes(id));
}

export const toGlobs = ({ extensions, filenames = [] }: Language): string[] => [
  ...extensions.map((extension) => `*${extension}`),
  ...filenames,
];
const GLOBS = LANGUAGES.flatMap(toGlobs);

/** `Outer.inner` asks for an inner of Outer. */
const ownName = (query: string): string => query.split(SEPARATOR).at(-1) || query;
const SEPARATOR = /\.|::|#|->/;

/** Lower is better; undefined when the name does not contain the query. */
function rankOf({ name, path }: Pick<FoundSymbol, "name" | "path">, query: string): number | undefined {
  const own = ownName(query);
  const whole = query.split(SEPARATOR).join(".");
  if (own !== query && (path === whole || path.endsWith(`.${whole}`))) return 0;
  if (name === own) return 1;
  const [low, wanted] = [name.toLowerCase(), own.toLowerCase()];
  if (low === wanted) return 2;
  if (low.startsWith(wanted)) return 3;
  return low.includes(wanted) ? 4 : undefined;
}

/** A file stands for itself; a folder is walked. */
export async function filesIn(
  confinement: Workspace["confinement"],
  scope: Path | undefined,
  list: (folders: readonly Path[]) => Promise<readonly Path[]>,
): Promise<readonly Path[]> {
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

const toIndexPath = (root: Path, path: Path): string =>
  path === root
    ? ""
    : path.startsWith(`${root}/`)
      ? path.slice(root.length + 1)
      : pathToUri(path).slice("file://".length);
