import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import type { Language as Grammar, Node, Query } from "web-tree-sitter";
import type { Language } from "./language.ts";

declare global {
  /** The declarations of web-tree-sitter refer to it and do not declare it. */
  interface EmscriptenModule {}
}

/** The parser of one language. */
export interface LoadedGrammar {
  /** Parses the text and passes the root of its tree, which is then deleted; undefined when there is no tree. */
  parse<T>(text: string, read: (root: Node) => T): T | undefined;
  /** Compiled queries are cached by their source. */
  query(source: string): Query;
}

/** Grammars, loaded on first use. Not to be shared between threads. */
export type Grammars = (language: Language) => Promise<LoadedGrammar>;

export function createGrammars(): Grammars {
  let library: Promise<typeof import("web-tree-sitter")> | undefined;
  const loaded = new Map<string, Promise<LoadedGrammar>>();

  const load = async (language: Language): Promise<LoadedGrammar> => {
    library ??= loadLibrary();
    const { Language: Loader, Parser, Query } = await library;
    const grammar: Grammar = await Loader.load(locate(language.grammar));
    const parser = new Parser();
    parser.setLanguage(grammar);
    const queries = new Map<string, Query>();
    const query = (source: string) => {
      const known = queries.get(source) ?? new Query(grammar, source);
      queries.set(source, known);
      return known;
    };
    return {
      query,
      parse(text, read) {
        const tree = parser.parse(text);
        try {
          return tree ? read(tree.rootNode) : undefined;
        } finally {
          tree?.delete();
        }
      },
    };
  };

  return (language) => {
    const known = loaded.get(language.id) ?? load(language);
    loaded.set(language.id, known);
    return known;
  };
}

async function loadLibrary() {
  const library = await import("web-tree-sitter");
  await library.Parser.init();
  return library;
}

/** Next to the built code, or in the grammar's own package. */
function locate(grammar: string): string {
  const shipped = join(import.meta.dirname, "grammars", basename(grammar));
  return existsSync(shipped) ? shipped : createRequire(import.meta.url).resolve(grammar);
}
