import { quote } from "./quote.ts";
import type { ActionWords, CommandWords, FlagWords, Words } from "./words.ts";

/** Bash splits words at `=`, so the script reads the line as typed and offers only the part after the `=`. */
export const toBash = ({ commands, actions }: Words): string => `# octant completion for bash. In ~/.bashrc:
#   eval "$(octant completion bash)"
_octant_reply() { local reply; while IFS= read -r reply; do COMPREPLY+=("$reply"); done; }
_octant_among() { _octant_reply < <(compgen -W "$1" -- "\${typed##*=}"); }
_octant_files() { compopt -o filenames 2>/dev/null; _octant_reply < <(compgen "$1" -- "\${typed##*=}"); }

_octant_keys() {
  compopt -o nospace 2>/dev/null
  case "$1" in
${lines(actions, ({ name, parameters }) => [`${name}) _octant_among ${words(parameters.map((one) => `${one.name}=`))} ;;`])}
  esac
}

_octant_values() {
  case "$1 $2" in
${lines(actions, valueCases)}
    *) _octant_files -f ;;
  esac
}

_octant_call() {
  local word action
  for word in "\${before[@]:2}"; do [[ "$word" == [a-z]*.* ]] && action="$word" && break; done
  if [[ -z "$action" ]]; then _octant_among ${words(actions.map(({ name }) => name))}
  elif [[ "$typed" == *=* ]]; then _octant_values "$action" "\${typed%%=*}"
  else _octant_keys "$action"
  fi
}

_octant() {
  local line="\${COMP_LINE:0:COMP_POINT}" typed before
  typed="\${line##*[[:space:]]}"
  read -ra before <<< "\${line%"$typed"}"
  COMPREPLY=()
  case "\${before[1]} \${before[\${#before[@]}-1]}" in
${lines(commands, (command) => command.flags.flatMap((flag) => flagCases(command, flag)))}
  esac
  case "\${before[1]}" in
    "") _octant_among ${words([...commands.map(({ name }) => name), "--help", "--version"])} ;;
${lines(commands, commandCases)}
  esac
}

complete -F _octant octant
`;

const words = (all: readonly string[]) => quote(all.join(" "));

const lines = <T>(all: readonly T[], toLines: (one: T) => string[]) =>
  all
    .flatMap(toLines)
    .map((line) => `    ${line}`)
    .join("\n");

const valueCases = ({ name, parameters }: ActionWords) =>
  parameters
    .filter(({ values }) => values.length > 0)
    .map((one) => `${quote(`${name} ${one.name}`)}) _octant_among ${words(one.values)} ;;`);

function flagCases(command: CommandWords, { name, takes }: FlagWords): string[] {
  if (takes === "nothing") return [];
  const offer =
    takes === "folder"
      ? "_octant_files -d"
      : takes === "file"
        ? "_octant_files -f"
        : `_octant_among ${words(takes)}`;
  return [`${quote(`${command.name} ${name}`)}) ${offer}; return ;;`];
}

function commandCases({ name, flags, first }: CommandWords): string[] {
  const offer = first === "action" ? "_octant_call" : `_octant_among ${words(first)}`;
  const flagNames = words(flags.map((flag) => flag.name));
  return [`${name}) if [[ "$typed" == -* ]]; then _octant_among ${flagNames}; else ${offer}; fi ;;`];
}
