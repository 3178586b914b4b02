import type { UnplacedSymbol } from "./symbols.ts";

/** What an entry of the outline is. */
export const SYMBOL_KINDS = [
  ...["function", "method", "constructor", "class", "interface", "struct", "trait", "enum", "type", "module"],
  ...["constant", "variable", "field", "macro", "key", "selector", "heading", "element"],
] as const;
export type SymbolKind = (typeof SYMBOL_KINDS)[number];

/** A language that can be taken apart: all that is known about it is data. */
export interface Language {
  readonly id: string;
  readonly extensions: readonly string[];
  /** Whole names of files, for those without an extension. */
  readonly filenames?: readonly string[];
  /** The grammar, as package and file. */
  readonly grammar: `${string}.wasm`;
  /**
   * How definitions are found. A tree-sitter query captures the whole definition under its kind, its name as `name`; a
   * function reads the text without the grammar.
   */
  readonly symbols: string | ((text: string) => UnplacedSymbol[]);
  /** A tree-sitter query for what is called, captured as `callee`. */
  readonly calls?: string;
  /** The first string of a body is its documentation, as in Python. */
  readonly docstrings?: true;
}
