import type { Language } from "../language.ts";

export const bash: Language = {
  id: "bash",
  extensions: [".sh", ".bash", ".zsh", ".bats"],
  filenames: [".bashrc", ".profile"],
  grammar: "tree-sitter-bash/tree-sitter-bash.wasm",
  symbols: `
    (function_definition name: (word) @name) @function
    (program (variable_assignment name: (variable_name) @name) @variable)
  `,
  calls: `(command name: (command_name (word) @callee))`,
};
