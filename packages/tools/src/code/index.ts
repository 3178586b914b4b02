import { defineTool } from "@octant/core";
import { calls } from "./calls.ts";
import { type CodeOptions, createCode } from "./code.ts";
import { diagnostics } from "./diagnostics.ts";
import { format } from "./format.ts";
import { completion, hover } from "./hover-completion.ts";
import { definition, references } from "./navigation.ts";
import { rename } from "./rename.ts";
import { search_ast } from "./search-ast.ts";
import { outline, search_symbol } from "./symbol-lists.ts";

export { createDiagnosticsAfterEdit } from "./diagnostics-after-edit.ts";
export type { SymbolIndex } from "./symbol-search.ts";
export type { CodeOptions };

export const code = (options: CodeOptions) => {
  const shared = createCode(options);
  return defineTool({
    name: "code",
    summary: "Symbols: definitions, references, calls, types, diagnostics, rename and format.",
    actions: {
      definition: definition(shared),
      references: references(shared),
      hover: hover(shared),
      completion: completion(shared),
      diagnostics: diagnostics(shared),
      search_symbol: search_symbol(shared),
      rename: rename(shared),
      format: format(shared),
      outline: outline(shared),
      search_ast: search_ast(shared),
      calls: calls(shared),
    },
    backends: async () => [
      ...(await options.servers.backends()),
      { name: "tree-sitter", available: true, detail: "parses without a server" },
    ],
  });
};
