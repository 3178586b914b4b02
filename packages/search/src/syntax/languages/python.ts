import type { Language } from "../language.ts";

export const python: Language = {
  id: "python",
  extensions: [".py", ".pyi", ".pyw"],
  grammar: "tree-sitter-python/tree-sitter-python.wasm",
  symbols: `
    (class_definition name: (identifier) @name) @class
    (class_definition body: (block [(function_definition name: (identifier) @name) (decorated_definition definition: (function_definition name: (identifier) @name))] @method))
    (function_definition name: (identifier) @name) @function
    (module (expression_statement (assignment left: (identifier) @name)) @variable)
    (class_definition body: (block (expression_statement (assignment left: (identifier) @name)) @field))
    (type_alias_statement left: (type (identifier) @name)) @type
  `,
  calls: `(call function: [(identifier) @callee (attribute attribute: (identifier) @callee)])`,
  docstrings: true,
};
