import type { Language } from "../language.ts";

const SHARED = `
  (function_definition declarator: (function_declarator declarator: (identifier) @name)) @function
  (function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function
  (translation_unit (declaration declarator: (function_declarator declarator: (identifier) @name)) @function)
  (translation_unit (declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function)
  (translation_unit (declaration declarator: [(identifier) @name (init_declarator declarator: (identifier) @name) (array_declarator declarator: (identifier) @name)]) @variable)
  (struct_specifier name: (type_identifier) @name body: (_)) @struct
  (union_specifier name: (type_identifier) @name body: (_)) @struct
  (enum_specifier name: (type_identifier) @name body: (_)) @enum
  (enumerator name: (identifier) @name) @constant
  (type_definition declarator: (type_identifier) @name) @type
  (preproc_function_def name: (identifier) @name) @macro
  (preproc_def name: (identifier) @name) @macro
  (field_declaration declarator: [(field_identifier) @name (pointer_declarator declarator: (field_identifier) @name) (array_declarator declarator: (field_identifier) @name)]) @field
`;

const CALLS = `(call_expression function: [(identifier) @callee (field_expression field: (field_identifier) @callee)])`;

export const c: Language = {
  id: "c",
  extensions: [".c"],
  grammar: "tree-sitter-c/tree-sitter-c.wasm",
  symbols: SHARED,
  calls: CALLS,
};

/** Headers are parsed as C++, which also accepts those of C. */
export const cpp: Language = {
  id: "cpp",
  extensions: [".cpp", ".cc", ".cxx", ".c++", ".h", ".hpp", ".hh", ".hxx", ".ipp", ".tpp"],
  grammar: "tree-sitter-cpp/tree-sitter-cpp.wasm",
  symbols: `${SHARED}
    (class_specifier name: (type_identifier) @name body: (_)) @class
    (namespace_definition name: (_) @name) @module
    (function_definition declarator: (function_declarator declarator: (field_identifier) @name)) @method
    (function_definition declarator: (reference_declarator (function_declarator declarator: [(identifier) (field_identifier)] @name))) @method
    (function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))) @method
    (function_definition declarator: (function_declarator declarator: (qualified_identifier scope: (_) @owner name: [(identifier) (destructor_name) (operator_name)] @name))) @method
    (function_definition declarator: (function_declarator declarator: (qualified_identifier name: (qualified_identifier scope: (_) @owner name: [(identifier) (destructor_name) (operator_name)] @name)))) @method
    (function_definition declarator: (function_declarator declarator: [(operator_name) (destructor_name)] @name)) @method
    (field_declaration declarator: (function_declarator declarator: (field_identifier) @name)) @method
    (field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))) @method
    (declaration_list (declaration declarator: (function_declarator declarator: (identifier) @name)) @function)
    (alias_declaration name: (type_identifier) @name) @type
    (concept_definition name: (identifier) @name) @type
  `,
  calls: `${CALLS} (call_expression function: [(qualified_identifier name: (identifier) @callee) (template_function name: (identifier) @callee)])`,
};
