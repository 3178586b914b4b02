import type { Language } from "../language.ts";
import { shellSymbols } from "../shell-symbols.ts";

/** Shared by JavaScript and TypeScript. */
const SCRIPT = `
  (function_declaration name: (identifier) @name) @function
  (generator_function_declaration name: (identifier) @name) @function
  (method_definition name: [(property_identifier) (private_property_identifier) (computed_property_name) (string)] @name) @method
  (lexical_declaration "const" (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)])) @function
  (variable_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)])) @function
  (program [(lexical_declaration "const" (variable_declarator name: (identifier) @name)) (export_statement (lexical_declaration "const" (variable_declarator name: (identifier) @name)))] @constant)
  (program [(lexical_declaration "let" (variable_declarator name: (identifier) @name)) (variable_declaration (variable_declarator name: (identifier) @name))] @variable)
  (program (export_statement [(lexical_declaration "let" (variable_declarator name: (identifier) @name)) (variable_declaration (variable_declarator name: (identifier) @name))]) @variable)
  (pair key: [(property_identifier) (string)] @name value: [(arrow_function) (function_expression)]) @method
  (assignment_expression left: (member_expression property: (property_identifier) @name) right: [(arrow_function) (function_expression)]) @function
`;

const CALLS = `
  (call_expression function: [(identifier) @callee (member_expression property: (property_identifier) @callee)])
  (new_expression constructor: [(identifier) @callee (member_expression property: (property_identifier) @callee)])
`;

const TYPES = `
  (class_declaration name: (type_identifier) @name) @class
  (abstract_class_declaration name: (type_identifier) @name) @class
  (class name: (type_identifier) @name) @class
  (interface_declaration name: (type_identifier) @name) @interface
  (type_alias_declaration name: (type_identifier) @name) @type
  (enum_declaration name: (identifier) @name) @enum
  (internal_module name: [(identifier) (nested_identifier)] @name) @module
  (module name: [(identifier) (string)] @name) @module
  (function_signature name: (identifier) @name) @function
  (abstract_method_signature name: (property_identifier) @name) @method
  (method_signature name: (property_identifier) @name) @method
  (public_field_definition name: [(property_identifier) (private_property_identifier)] @name) @field
  (property_signature name: (property_identifier) @name) @field
`;

export const javascript: Language = {
  id: "javascript",
  extensions: [".js", ".mjs", ".cjs", ".jsx"],
  grammar: "tree-sitter-javascript/tree-sitter-javascript.wasm",
  symbols: `${SCRIPT}
    (class_declaration name: (identifier) @name) @class
    (class name: (identifier) @name) @class
    (field_definition property: [(property_identifier) (private_property_identifier)] @name) @field`,
  calls: CALLS,
};

export const typescript: Language = {
  id: "typescript",
  extensions: [".ts", ".mts", ".cts"],
  grammar: "tree-sitter-typescript/tree-sitter-typescript.wasm",
  symbols: SCRIPT + TYPES,
  calls: CALLS,
};

export const tsx: Language = {
  id: "tsx",
  extensions: [".tsx"],
  grammar: "tree-sitter-typescript/tree-sitter-tsx.wasm",
  symbols: SCRIPT + TYPES,
  calls: CALLS,
};

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

export const ruby: Language = {
  id: "ruby",
  extensions: [".rb", ".rake", ".gemspec"],
  filenames: ["Rakefile", "Gemfile"],
  grammar: "tree-sitter-ruby/tree-sitter-ruby.wasm",
  symbols: `
    (class name: [(constant) (scope_resolution)] @name) @class
    (module name: [(constant) (scope_resolution)] @name) @module
    (method name: (_) @name) @method
    (singleton_method name: (_) @name) @method
    (assignment left: (constant) @name) @constant
  `,
  calls: `
    (call method: (identifier) @callee)
    (identifier) @bare
    [(assignment left: (identifier) @local) (operator_assignment left: (identifier) @local) (left_assignment_list (identifier) @local)]
    [(method_parameters (identifier) @local) (block_parameters (identifier) @local) (lambda_parameters (identifier) @local) (destructured_parameter (identifier) @local)]
    [(optional_parameter name: (identifier) @local) (splat_parameter name: (identifier) @local) (hash_splat_parameter name: (identifier) @local)]
    [(keyword_parameter name: (identifier) @local) (block_parameter name: (identifier) @local) (exception_variable (identifier) @local) (for pattern: (identifier) @local)]
  `,
  signedNames: true,
  dollarIsSigil: true,
};

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
  dollarIsSigil: true,
};

export const bash: Language = {
  id: "bash",
  extensions: [".sh", ".bash", ".zsh", ".bats"],
  filenames: [".bashrc", ".profile"],
  grammar: "tree-sitter-bash/tree-sitter-bash.wasm",
  symbols: shellSymbols,
  calls: `(command name: (command_name (word) @callee))`,
};
