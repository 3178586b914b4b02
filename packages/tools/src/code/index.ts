import { defineTool } from "@octant/core";
import { calls } from "./calls.ts";
import { createCode } from "./code.ts";
import { completion } from "./completion.ts";
import { definition } from "./definition.ts";
import { diagnostics } from "./diagnostics.ts";
import { format } from "./format.ts";
import { hover } from "./hover.ts";
import type { CodeOptions } from "./options.ts";
import { outline } from "./outline.ts";
import { references } from "./references.ts";
import { rename } from "./rename.ts";
import { search_ast } from "./search-ast.ts";
import { search_symbol } from "./search-symbol.ts";

export { createDiagnosticsAfterEdit } from "./diagnostics-after-edit.ts";
export type { CodeOptions, SymbolIndex } from "./options.ts";

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
