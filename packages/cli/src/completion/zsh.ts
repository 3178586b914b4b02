import { quote } from "./quote.ts";
import type { ActionWords, CommandWords, FlagWords, Words } from "./words.ts";

export const toZsh = ({ commands, actions }: Words): string => `#compdef octant
# octant completion for zsh. In ~/.zshrc, after compinit:
#   source <(octant completion zsh)
_octant_keys() {
  case "$1" in
${lines(actions, ({ name, parameters }) => [`${name}) compadd -S '' -- ${list(parameters.map((one) => `${one.name}=`))} ;;`])}
  esac
}

_octant_values() {
  compset -P '*='
  case "$1 $2" in
${lines(actions, valueCases)}
    *) _files ;;
  esac
}

_octant_call() {
  local -a actions=(
${lines(actions, ({ name, summary }) => [quote(`${name}:${summary}`)])}
  )
  local action=\${\${(M)words[3,CURRENT-1]:#[a-z]*.*}[1]}
  if [[ -z "$action" ]]; then _describe action actions
  elif [[ "$PREFIX" == *=* ]]; then _octant_values "$action" "\${PREFIX%%=*}"
  else _octant_keys "$action"
  fi
}

_octant() {
  local -a commands=(
${lines(commands, ({ name, summary }) => [quote(`${name}:${summary}`)])}
  )
  if (( CURRENT == 2 )); then
    if [[ "$PREFIX" == -* ]]; then compadd -- --help --version; else _describe command commands; fi
    return
  fi
  case "\${words[2]} \${words[CURRENT-1]}" in
${lines(commands, (command) => command.flags.flatMap((flag) => flagCases(command, flag)))}
  esac
  local -a flags
  case "\${words[2]}" in
${lines(commands, commandCases)}
  esac
}

compdef _octant octant
`;

const list = (all: readonly string[]) => all.map(quote).join(" ");

const lines = <T>(all: readonly T[], toLines: (one: T) => string[]) =>
  all
    .flatMap(toLines)
    .map((line) => `    ${line}`)
    .join("\n");

const valueCases = ({ name, parameters }: ActionWords) =>
  parameters
    .filter(({ values }) => values.length > 0)
    .map((one) => `${quote(`${name} ${one.name}`)}) compadd -- ${list(one.values)} ;;`);

function flagCases(command: CommandWords, { name, takes }: FlagWords): string[] {
  if (takes === "nothing") return [];
  const offer = takes === "folder" ? "_files -/" : takes === "file" ? "_files" : `compadd -- ${list(takes)}`;
  return [`${quote(`${command.name} ${name}`)}) ${offer}; return ;;`];
}

function commandCases({ name, flags, first }: CommandWords): string[] {
  const described = list(flags.map((flag) => `${flag.name}:${flag.summary}`));
  const offer = first === "action" ? "_octant_call" : `compadd -- ${list(first)}`;
  return [
    `${name}) if [[ "$PREFIX" == -* ]]; then flags=(${described}); _describe flag flags; else ${offer}; fi ;;`,
  ];
}
