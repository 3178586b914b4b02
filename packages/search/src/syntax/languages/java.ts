import type { Language } from "../language.ts";

export const java: Language = {
  id: "java",
  extensions: [".java"],
  grammar: "tree-sitter-java/tree-sitter-java.wasm",
  symbols: `
    (class_declaration name: (identifier) @name) @class
    (record_declaration name: (identifier) @name) @class
    (interface_declaration name: (identifier) @name) @interface
    (annotation_type_declaration name: (identifier) @name) @interface
    (enum_declaration name: (identifier) @name) @enum
    (enum_constant name: (identifier) @name) @constant
    (method_declaration name: (identifier) @name) @method
    (constructor_declaration name: (identifier) @name) @constructor
    (field_declaration declarator: (variable_declarator name: (identifier) @name)) @field
  `,
  calls: `
    (method_invocation name: (identifier) @callee)
    (object_creation_expression type: (type_identifier) @callee)
  `,
};
