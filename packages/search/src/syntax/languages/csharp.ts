import type { Language } from "../language.ts";

export const csharp: Language = {
  id: "csharp",
  extensions: [".cs"],
  grammar: "tree-sitter-c-sharp/tree-sitter-c_sharp.wasm",
  symbols: `
    (class_declaration name: (identifier) @name) @class
    (record_declaration name: (identifier) @name) @class
    (struct_declaration name: (identifier) @name) @struct
    (interface_declaration name: (identifier) @name) @interface
    (enum_declaration name: (identifier) @name) @enum
    (enum_member_declaration name: (identifier) @name) @constant
    (delegate_declaration name: (identifier) @name) @type
    (namespace_declaration name: (_) @name) @module
    (method_declaration name: (identifier) @name) @method
    (local_function_statement name: (identifier) @name) @function
    (constructor_declaration name: (identifier) @name) @constructor
    (property_declaration name: (identifier) @name) @field
    (event_declaration name: (identifier) @name) @field
    (field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
  `,
  calls: `
    (invocation_expression function: [(identifier) @callee (member_access_expression name: (identifier) @callee)])
    (object_creation_expression type: (identifier) @callee)
  `,
};
