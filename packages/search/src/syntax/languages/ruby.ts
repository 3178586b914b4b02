import type { Language } from "../language.ts";

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
  calls: `(call method: (identifier) @callee)`,
};
