import type { UnplacedSymbol } from "./symbols.ts";

/** The kinds of symbols in an outline. */
export const SYMBOL_KINDS = [
  ...["function", "method", "constructor", "class", "interface", "struct", "trait", "enum", "type", "module"],
  ...["constant", "variable", "field", "macro", "key", "selector", "heading", "element"],
] as const;
export type SymbolKind = (typeof SYMBOL_KINDS)[number];

/** A supported language, described entirely by data. */
export interface Language {
  readonly id: string;
  readonly extensions: readonly string[];
  /** Full file names, for files without an extension. */
  readonly filenames?: readonly string[];
  /** The grammar, as package and file. */
  readonly grammar: `${string}.wasm`;
  /**
   * How definitions are found. A tree-sitter query captures the whole definition under its kind and its name
   * as `name`; a function reads the text without the grammar.
   */
  readonly symbols: string | ((text: string) => UnplacedSymbol[]);
  /**
   * A tree-sitter query that captures called functions as `callee`. Where a call may look like a variable, it captures
   * these as `bare` and the variables of a function as `local`: a bare name that is not a local is a call.
   */
  readonly calls?: string;
  /** The node of code that the grammar does not parse, such as the body of a macro. */
  readonly opaque?: string;
  /** Names may end in ! or ?. */
  readonly signedNames?: true;
  /** A $ before a name does not belong to it. */
  readonly dollarIsSigil?: true;
  /** The first string of a body is its documentation, as in Python. */
  readonly docstrings?: true;
}
