import type { Language } from "../language.ts";

export const rust: Language = {
  id: "rust",
  extensions: [".rs"],
  grammar: "tree-sitter-rust/tree-sitter-rust.wasm",
  symbols: `
    (impl_item type: [(type_identifier) @owner (generic_type type: (type_identifier) @owner) (scoped_type_identifier name: (type_identifier) @owner)] body: (declaration_list (function_item name: (identifier) @name) @method))
    (impl_item type: [(type_identifier) @owner (generic_type type: (type_identifier) @owner) (scoped_type_identifier name: (type_identifier) @owner)] body: (declaration_list (const_item name: (identifier) @name) @constant))
    (trait_item body: (declaration_list [(function_item name: (identifier) @name) (function_signature_item name: (identifier) @name)] @method))
    (function_item name: (identifier) @name) @function
    (function_signature_item name: (identifier) @name) @function
    (struct_item name: (type_identifier) @name) @struct
    (union_item name: (type_identifier) @name) @struct
    (enum_item name: (type_identifier) @name) @enum
    (trait_item name: (type_identifier) @name) @trait
    (type_item name: (type_identifier) @name) @type
    (mod_item name: (identifier) @name) @module
    (const_item name: (identifier) @name) @constant
    (static_item name: (identifier) @name) @variable
    (macro_definition name: (identifier) @name) @macro
    (field_declaration name: (field_identifier) @name) @field
  `,
  calls: `
    (call_expression function: [(identifier) @callee (field_expression field: (field_identifier) @callee) (scoped_identifier name: (identifier) @callee) (generic_function function: [(identifier) @callee (scoped_identifier name: (identifier) @callee)])])
    (macro_invocation macro: (identifier) @callee)
  `,
};
