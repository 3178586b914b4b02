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
  opaque: "preproc_arg",
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
  opaque: "preproc_arg",
};

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
    ((token_tree (identifier) @callee . (token_tree) @arguments) (#match? @arguments "^[(]"))
    (token_tree (identifier) @callee . "!" . (token_tree))
  `,
};
