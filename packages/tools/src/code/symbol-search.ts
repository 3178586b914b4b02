import type { Range } from "@octant/core";
import { ToolError } from "@octant/core";
import { comparePaths, isWithin, type Path, pathToUri, type TextPattern, type Workspace } from "@octant/host";
import type { SymbolKind } from "@octant/search";
import { LANGUAGES, type Language, languageOf } from "@octant/search";
import type { SymbolIndex } from "./options.ts";
import type { Sources } from "./sources.ts";

export interface FoundSymbol {
  readonly file: Path;
  readonly name: string;
  readonly path: string;
  readonly kind: SymbolKind;
  readonly range: Range;
  readonly nameRange: Range;
  readonly signature: string;
  readonly doc: string | null;
}

export interface SymbolQuery {
  readonly query: string;
  readonly kind?: SymbolKind | undefined;
  /** A folder or a file. */
  readonly scope?: Path | undefined;
  readonly limit: number;
}

/** Finds symbols all over the project, by the index where there is one. */
export interface SymbolSearch {
  /** The best first: the very name, then those that begin with it, then those that hold it. */
  search(query: SymbolQuery, signal: AbortSignal): Promise<readonly FoundSymbol[]>;
  /** Files of the same language that hold the name as a word, in the order of their paths. */
  filesNaming(name: string, language: Language, signal: AbortSignal): Promise<readonly Path[]>;
  /** Those of exactly this name in files of the same language. */
  named(name: string, language: Language, signal: AbortSignal): Promise<readonly FoundSymbol[]>;
}

const MAX_NAMED = 64;
/** Files that are parsed for one question when there is no index. */
const MAX_FILES = 400;

export function createSymbolSearch(
  { confinement, ripgrep }: Pick<Workspace, "confinement" | "ripgrep">,
  sources: Sources,
  index: SymbolIndex | undefined,
): SymbolSearch {
  /** Files that hold the text, in the order of their paths. */
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
        for (const one of messages)
          if (one.kind === "begin" && files.length < MAX_FILES) files.push(one.path);
    }
    return files.sort(comparePaths);
  };
  const filesNaming: SymbolSearch["filesNaming"] = (name, language, signal) => {
    // ripgrep sees no border of a word beside a sign such as `$`.
    const pattern = { pattern: name, word: /^\w+$/.test(name), case: "sensitive" } as const;
    return filesWith(pattern, familyOf(language).flatMap(toGlobs), outermost(confinement.roots), signal);
  };
  const look = async (files: readonly Path[], signal: AbortSignal): Promise<FoundSymbol[]> => {
    const found: FoundSymbol[] = [];
    for (const file of files) {
      signal.throwIfAborted();
      const source = sources.readIfThere(file);
      for (const symbol of source ? await sources.symbols(file, source) : []) found.push({ ...symbol, file });
    }
    return found;
  };
  const scan = async ({ query, kind, scope, limit }: SymbolQuery, signal: AbortSignal) => {
    const files = await filesIn(confinement, scope, (folders) =>
      filesWith({ pattern: query, case: "insensitive" }, GLOBS, folders, signal),
    );
    const ranked = (await look(files, signal))
      .filter((symbol) => kind === undefined || symbol.kind === kind)
      .flatMap((symbol) => {
        const rank = rankOf(symbol.name, query);
        return rank === undefined ? [] : [{ symbol, rank }];
      });
    return ranked
      .sort((a, b) => a.rank - b.rank)
      .slice(0, limit)
      .map(({ symbol }) => symbol);
  };
  const fromIndex = async (
    { query, scope, limit, kind, exact = false }: SymbolQuery & { exact?: boolean },
    from: SymbolIndex,
  ) => {
    const within = scope === undefined ? undefined : toIndexPath(confinement.roots[0] ?? "/", scope);
    const options = {
      limit,
      exact,
      ...(kind && { kind }),
      ...(within !== undefined && within !== "" && { scope: within }),
    };
    const stored = await from.symbols(query, options);
    return stored.map((symbol) => ({ ...symbol, file: confinement.toPath(symbol.file) }));
  };

  return {
    search: (query, signal) => (index ? fromIndex(query, index) : scan(query, signal)),
    filesNaming,
    async named(name, language, signal) {
      const found = index
        ? await fromIndex({ query: name, limit: MAX_NAMED, exact: true }, index)
        : await look(await filesNaming(name, language, signal), signal);
      const family: readonly (Language | undefined)[] = familyOf(language);
      return found
        .filter((symbol) => symbol.name === name && family.includes(languageOf(symbol.file)))
        .slice(0, MAX_NAMED);
    },
  };
}

/** A root inside another is looked through with it. */
const outermost = (roots: readonly Path[]) =>
  roots.filter((root) => !roots.some((other) => other !== root && isWithin(other, root)));

/** Languages that see each other's symbols. */
const FAMILIES: readonly (readonly string[])[] = [
  ["typescript", "tsx", "javascript"],
  ["c", "cpp"],
];

export function familyOf(language: Language): readonly Language[] {
  const family = FAMILIES.find((ids) => ids.includes(language.id)) ?? [language.id];
  return LANGUAGES.filter(({ id }) => family.includes(id));
}

export const toGlobs = ({ extensions, filenames = [] }: Language): string[] => [
  ...extensions.map((extension) => `*${extension}`),
  ...filenames,
];
const GLOBS = LANGUAGES.flatMap(toGlobs);

/** Lower is better; undefined when the name does not hold the query. */
function rankOf(name: string, query: string): number | undefined {
  if (name === query) return 0;
  const [low, wanted] = [name.toLowerCase(), query.toLowerCase()];
  if (low === wanted) return 1;
  if (low.startsWith(wanted)) return 2;
  return low.includes(wanted) ? 3 : undefined;
}

/** A file is its own answer; a folder is looked through. */
export async function filesIn(
  confinement: Workspace["confinement"],
  scope: Path | undefined,
  list: (folders: readonly Path[]) => Promise<readonly Path[]>,
): Promise<readonly Path[]> {
  if (scope === undefined) return list(outermost(confinement.roots));
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
