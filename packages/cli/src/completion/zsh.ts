import { lines, quote, toCases, type Words } from "./words.ts";

export function toZsh(words: Words): string {
  const { commands, actions } = words;
  const among = (all: readonly string[]) => `compadd -- ${list(all)}`;
  const cases = toCases(words, { among, folder: "_files -/", file: "_files" });
  const described = ({ name, summary }: { name: string; summary: string }) => `${name}:${summary}`;
  return `#compdef octant
# octant completion for zsh. In ~/.zshrc, after compinit:
#   source <(octant completion zsh)
_octant_keys() {
  case "$1" in
${lines(actions.map(({ name, parameters }) => `${name}) compadd -S '' -- ${list(parameters.map((one) => `${one.name}=`))} ;;`))}
  esac
}

_octant_values() {
  compset -P '*='
  case "$1 $2" in
${cases.values}
    *) _files ;;
  esac
}

_octant_call() {
  local -a actions=(
${lines(actions.map((one) => quote(described(one))))}
  )
  local action=\${\${(M)words[3,CURRENT-1]:#[a-z]*.*}[1]}
  if [[ -z "$action" ]]; then _describe action actions
  elif [[ "$PREFIX" == *=* ]]; then _octant_values "$action" "\${PREFIX%%=*}"
  else _octant_keys "$action"
  fi
}

_octant() {
  local -a commands=(
${lines(commands.map((one) => quote(described(one))))}
  )
  if (( CURRENT == 2 )); then
    if [[ "$PREFIX" == -* ]]; then compadd -- --help --version; else _describe command commands; fi
    return
  fi
  case "\${words[2]} \${words[CURRENT-1]}" in
${cases.flags}
  esac
  local -a flags
  case "\${words[2]}" in
${lines(
  commands.map(({ name, flags, first }) => {
    const offer = first === "action" ? "_octant_call" : among(first);
    const offerFlags = `flags=(${list(flags.map(described))}); _describe flag flags`;
    return `${name}) if [[ "$PREFIX" == -* ]]; then ${offerFlags}; else ${offer}; fi ;;`;
  }),
)}
  esac
}

compdef _octant octant
`;
}

const list = (all: readonly string[]) => all.map(quote).join(" ");
