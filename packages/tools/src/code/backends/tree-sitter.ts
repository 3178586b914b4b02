import type { Path, Spot } from "@octant/host";
import { type Language, languageOf } from "@octant/search";
import type { CodeBackend } from "../backend.ts";
import { holds, type Sources } from "../sources.ts";
import type { SymbolSearch } from "../symbol-search.ts";

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
  };
}

/** Called only for files whose language has a grammar. */
function grammarOf(path: Path): Language {
  const language = languageOf(path);
  if (!language) throw new TypeError("this file has no grammar");
  return language;
}
