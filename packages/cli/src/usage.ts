import { toColumns } from "./columns.ts";
import type { AnyCommand, Argument, Flag } from "./command.ts";
import { loadVersion } from "./version.ts";

const EXIT_CODES = `Exit codes: 0 done, 1 the tool answered an error or something failed, 2 wrong usage,
3 cannot start (no Node 24). Ended by a signal: as the shell says it, 128 + its number.`;

/** The help of the whole command. */
export function renderOverview(commands: readonly AnyCommand[]): string {
  const rows = commands.map((command) => [`  ${usageOf(command)}`, command.summary]);
  return [
    `octant ${loadVersion()}: a small, typed, safe set of tools over a software project, for any AI agent`,
    ["Commands:", ...toColumns(rows)].join("\n"),
    [
      "First steps:",
      ...toColumns([
        ["  octant doctor", "is everything here?"],
        ["  octant call fs.list", "call a tool by hand"],
        ["  octant serve", "what an MCP client starts; it speaks on stdin and stdout"],
      ]),
    ].join("\n"),
    `octant COMMAND --help shows its flags; octant --version the version.\n${EXIT_CODES}`,
  ].join("\n\n");
}

/** The help of one command. */
export function renderUsage(command: AnyCommand): string {
  const flags = [...Object.entries<Flag>(command.flags), ["help", HELP_FLAG] as const];
  return [
    `octant ${usageOf(command)}`,
    command.summary,
    ["Flags:", ...toColumns(flags.map(([name, flag]) => [`  ${flagName(name, flag)}`, explain(flag)]))].join(
      "\n",
    ),
    ...(command.notes ? [command.notes] : []),
    command.exitCodes ?? EXIT_CODES,
  ].join("\n\n");
}

const HELP_FLAG: Flag = { summary: "Show this help" };

const usageOf = ({ name, arguments: takes = [] }: AnyCommand) => [name, ...takes.map(argumentName)].join(" ");

const argumentName = ({ name, optional, many }: Argument) =>
  many ? `[${name} …]` : optional ? `[${name}]` : name;

const flagName = (name: string, { value }: Flag) => (value ? `--${name} ${value}` : `--${name}`);

function explain({ summary, choices, many, env }: Flag): string {
  const facts = [
    ...(choices ? [choices.join(", ")] : []),
    ...(many ? ["may be repeated"] : []),
    ...(env ? [`or ${env}`] : []),
  ];
  return facts.length ? `${summary} (${facts.join("; ")})` : summary;
}
