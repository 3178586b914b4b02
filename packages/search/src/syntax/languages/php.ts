import type { Language } from "../language.ts";

export const php: Language = {
  id: "php",
  extensions: [".php", ".phtml"],
  grammar: "tree-sitter-php/tree-sitter-php.wasm",
  symbols: `
    (class_declaration name: (name) @name) @class
    (interface_declaration name: (name) @name) @interface
    (trait_declaration name: (name) @name) @trait
    (enum_declaration name: (name) @name) @enum
    (enum_case name: (name) @name) @constant
    (namespace_definition name: (namespace_name) @name) @module
    (function_definition name: (name) @name) @function
    (method_declaration name: (name) @name) @method
    (const_declaration (const_element (name) @name)) @constant
    (property_declaration (property_element name: (variable_name) @name)) @field
  `,
  calls: `
    (function_call_expression function: (name) @callee)
    (member_call_expression name: (name) @callee)
    (scoped_call_expression name: (name) @callee)
    (object_creation_expression (name) @callee)
  `,
};
