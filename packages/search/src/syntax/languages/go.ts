import type { Language } from "../language.ts";

export const go: Language = {
  id: "go",
  extensions: [".go"],
  grammar: "tree-sitter-go/tree-sitter-go.wasm",
  symbols: `
    (function_declaration name: (identifier) @name) @function
    (method_declaration receiver: (parameter_list (parameter_declaration type: [(type_identifier) @owner (pointer_type (type_identifier) @owner) (generic_type type: (type_identifier) @owner) (pointer_type (generic_type type: (type_identifier) @owner))])) name: (field_identifier) @name) @method
    (type_declaration (type_spec name: (type_identifier) @name type: (struct_type)) @struct)
    (type_declaration (type_spec name: (type_identifier) @name type: (interface_type)) @interface)
    (type_declaration [(type_spec name: (type_identifier) @name) (type_alias name: (type_identifier) @name)] @type)
    (method_elem name: (field_identifier) @name) @method
    (field_declaration name: (field_identifier) @name) @field
    (source_file (const_declaration (const_spec name: (identifier) @name) @constant))
    (source_file (var_declaration [(var_spec name: (identifier) @name) @variable (var_spec_list (var_spec name: (identifier) @name) @variable)]))
  `,
  calls: `(call_expression function: [(identifier) @callee (selector_expression field: (field_identifier) @callee)])`,
};
