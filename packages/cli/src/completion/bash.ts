import { lines, quote, toCases, type Words } from "./words.ts";

/** Bash splits words at `=`, so the script reads the line as typed and offers only the part after the `=`. */
export function toBash(words: Words): string {
  const { commands, actions } = words;
  const cases = toCases(words, { among, folder: "_octant_files -d", file: "_octant_files -f" });
  return `# octant completion for bash. In ~/.bashrc:
#   eval "$(octant completion bash)"
_octant_reply() { local reply; while IFS= read -r reply; do COMPREPLY+=("$reply"); done; }
_octant_among() { _octant_reply < <(compgen -W "$1" -- "\${typed##*=}"); }
_octant_files() { compopt -o filenames 2>/dev/null; _octant_reply < <(compgen "$1" -- "\${typed##*=}"); }

_octant_keys() {
  compopt -o nospace 2>/dev/null
  case "$1" in
${lines(actions.map(({ name, parameters }) => `${name}) ${among(parameters.map((one) => `${one.name}=`))} ;;`))}
  esac
}

_octant_values() {
  case "$1 $2" in
${cases.values}
    *) _octant_files -f ;;
  esac
}

_octant_call() {
  local word action
  for word in "\${before[@]:2}"; do [[ "$word" == [a-z]*.* ]] && action="$word" && break; done
  if [[ -z "$action" ]]; then ${among(actions.map(({ name }) => name))}
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
${cases.flags}
  esac
  case "\${before[1]}" in
    "") ${among([...commands.map(({ name }) => name), "--help", "--version"])} ;;
${lines(
  commands.map(({ name, flags, first }) => {
    const offer = first === "action" ? "_octant_call" : among(first);
    return `${name}) if [[ "$typed" == -* ]]; then ${among(flags.map((flag) => flag.name))}; else ${offer}; fi ;;`;
  }),
)}
  esac
}

complete -F _octant octant
`;
}

const among = (words: readonly string[]) => `_octant_among ${quote(words.join(" "))}`;
