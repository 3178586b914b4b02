import type { Range } from "@octant/core";
import type { Path, SourceCall, SourceText, Spot } from "@octant/host";
import { type Language, languageOf } from "@octant/search";
import type { CodeBackend } from "../backend.ts";
import { holds, parseAll, type Sources } from "../sources.ts";
import type { SymbolSearch } from "../symbol-search.ts";
import { wordsNamed } from "../words.ts";

export const TREE_SITTER = "tree-sitter";

/** Answers from names and syntax. */
export function createTreeSitter(sources: Sources, symbols: SymbolSearch): CodeBackend {
  const { nameAt } = sources;

  /** Searches the file itself first, then the whole project. */
  const define = async (spot: Spot, signal: AbortSignal) => {
    const { path, position } = spot;
    const name = nameAt(spot);
    if (name === undefined) return [];
    const here = (await sources.symbols(path)).filter((symbol) => symbol.name === name);
    const exact = here.find(({ nameRange }) => holds(nameRange, position));
    if (here.length > 0) return (exact ? [exact] : here).map((symbol) => ({ ...symbol, file: path }));
    return symbols.named(name, grammarOf(path), signal);
  };

  return {
    name: TREE_SITTER,
    matchesNames: true,
    async definition(spot, signal) {
      return (await define(spot, signal)).map(({ file, nameRange }) => ({ path: file, range: nameRange }));
    },
    async references(spot, signal) {
      const name = nameAt(spot);
      const files = name === undefined ? [] : await symbols.filesNaming(name, grammarOf(spot.path), signal);
      const toPlaces = ({ path }: SourceText, found: readonly { readonly range: Range }[]) =>
        found.map(({ range }) => ({ path, range }));
      return parseAll(
        sources,
        files,
        signal,
        async (source) => toPlaces(source, await sources.occurrences(source, name ?? "")),
        // Prefers too many matches to too few.
        (source) => toPlaces(source, wordsNamed(source, name ?? "")),
      );
    },
    async hover(spot, signal) {
      const [best] = await define(spot, signal);
      if (!best) return null;
      const signature = `\`\`\`${grammarOf(spot.path).id}\n${best.signature}\n\`\`\``;
      return { text: best.doc ? `${signature}\n${best.doc}` : signature };
    },
    completion: sources.completion,
    async diagnostics(path) {
      const found = await sources.syntaxErrors(sources.read(path));
      return found.map((one) => ({ ...one, path, severity: "error", source: "tree-sitter" }));
    },
    outline: (path) => sources.symbols(path),
    async calls(spot, direction, signal) {
      const name = nameAt(spot);
      if (name === undefined) return [];
      if (direction === "outgoing") return findCallees(sources, spot, (call) => define(call, signal));
      return findCallers(
        sources,
        name,
        await symbols.filesNaming(name, grammarOf(spot.path), signal),
        signal,
      );
    },
  };
}

/** Called only for files whose language has a grammar. */
function grammarOf(path: Path): Language {
  const language = languageOf(path);
  if (!language) throw new TypeError("this file has no grammar");
  return language;
}

type Defined = readonly { readonly file: Path; readonly name: string; readonly nameRange: Range }[];

/** The functions that call something with this name. */
async function findCallers(
  sources: Sources,
  name: string,
  files: readonly Path[],
  signal: AbortSignal,
): Promise<SourceCall[]> {
  const callersIn = async (source: SourceText): Promise<SourceCall[]> => {
    const { path } = source;
    const calls = await sources.calls(source, name);
    const symbols = await sources.symbols(path, source);
    return [...Map.groupBy(calls, ({ within }) => within?.path)].flatMap(([caller, inside]): SourceCall[] => {
      const symbol = symbols.find((one) => one.path === caller);
      if (!symbol) return [];
      const at = inside.map(({ range }) => ({ path, range }));
      return [{ name: symbol.name, path, range: symbol.nameRange, at }];
    });
  };
  return parseAll(sources, files, signal, callersIn, () => []);
}

/** The functions called by the function at a position, if they are defined in the project. */
async function findCallees(
  sources: Sources,
  { path, position }: Spot,
  define: (call: Spot) => Promise<Defined>,
): Promise<SourceCall[]> {
  const self = await sources.enclosing(path, position);
  if (!self) return [];
  const inside = (await sources.calls(sources.read(path))).filter(({ range }) =>
    holds(self.range, range.start),
  );
  const found = await Promise.all(
    [...Map.groupBy(inside, ({ name }) => name).values()].map(async (calls): Promise<SourceCall[]> => {
      const [target] = await define({ path, position: calls[0]!.range.start });
      if (!target) return [];
      const at = calls.map(({ range }) => ({ path, range }));
      return [{ name: target.name, path: target.file, range: target.nameRange, at }];
    }),
  );
  return found.flat();
}
