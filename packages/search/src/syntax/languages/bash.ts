import type { Language } from "../language.ts";
import { shellSymbols } from "../shell-symbols.ts";

export const bash: Language = {
  id: "bash",
  extensions: [".sh", ".bash", ".zsh", ".bats"],
  filenames: [".bashrc", ".profile"],
  grammar: "tree-sitter-bash/tree-sitter-bash.wasm",
  symbols: shellSymbols,
  calls: `(command name: (command_name (word) @callee))`,
};
