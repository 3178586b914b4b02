import { type ActionWords, type CommandWords, type FlagWords, quote, type Words } from "./words.ts";

export const toFish = ({ commands, actions }: Words): string => `# octant completion for fish. Once:
#   octant completion fish > ~/.config/fish/completions/octant.fish
function __octant_needs_action
  __fish_seen_subcommand_from call; and not string match -qr '^[a-z_]+[.]' -- (commandline -opc)
end
function __octant_has_action
  __fish_seen_subcommand_from call; and contains -- $argv (commandline -opc)
end
function __octant_in_value
  __fish_seen_subcommand_from call; and string match -q '*=*' -- (commandline -ct)
end

complete -c octant -f
complete -c octant -F -n __octant_in_value
complete -c octant -n __fish_use_subcommand -l help -d 'Show what there is'
complete -c octant -n __fish_use_subcommand -l version -d 'Show the version'
${commands.flatMap(commandLines).join("\n")}
${actions.flatMap(actionLines).join("\n")}
`;

const within = (command: string) => `__fish_seen_subcommand_from ${command}`;

function commandLines(command: CommandWords): string[] {
  const { name, summary, flags, first } = command;
  const words =
    first === "action" || first.length === 0
      ? []
      : [`complete -c octant -n ${quote(within(name))} -a ${quote(first.join(" "))}`];
  return [
    `complete -c octant -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
    ...flags.map((flag) => flagLine(name, flag)),
    ...words,
  ];
}

function flagLine(command: string, { name, summary, takes }: FlagWords): string {
  const value =
    takes === "nothing"
      ? ""
      : takes === "folder"
        ? " -xa '(__fish_complete_directories)'"
        : takes === "file"
          ? " -rF"
          : ` -xa ${quote(takes.join(" "))}`;
  return `complete -c octant -n ${quote(within(command))} -l ${name.slice(2)}${value} -d ${quote(summary)}`;
}

function actionLines({ name, summary, parameters }: ActionWords): string[] {
  const words = parameters.flatMap((one) => [
    `${one.name}=`,
    ...one.values.map((value) => `${one.name}=${value}`),
  ]);
  return [
    `complete -c octant -n __octant_needs_action -a ${name} -d ${quote(summary)}`,
    `complete -c octant -n '__octant_has_action ${name}' -a ${quote(words.join(" "))}`,
  ];
}
