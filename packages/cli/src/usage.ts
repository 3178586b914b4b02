import type { AnyCommand, Argument, Flag } from "./command.ts";
import { loadVersion } from "./version.ts";

const EXIT_CODES = `Exit codes: 0 done, 1 the tool returned an error or something failed, 2 wrong usage,
3 cannot start (no Node 24), 128 + N ended by signal N.`;

/** The help of the whole command; `columns` is the width of the terminal. */
export function renderOverview(commands: readonly AnyCommand[], columns = Infinity): string {
  return [
    wrap(
      `octant ${loadVersion()}: a small, typed, safe set of tools over a software project, for any AI agent`,
      columns,
    ),
    toTable(
      "Commands:",
      commands.map((command) => [usageOf(command), command.summary]),
      columns,
    ),
    toTable(
      "First steps:",
      [
        ["octant doctor", "check the installation"],
        ["octant call fs.list", "call a tool by hand"],
        ["octant serve", "what an MCP client starts; it speaks on stdin and stdout"],
      ],
      columns,
    ),
    `${wrap("octant COMMAND --help shows its flags; octant --version the version.", columns)}
${wrap(EXIT_CODES, columns)}`,
  ].join("\n\n");
}

/** The help of one command. */
export function renderUsage(command: AnyCommand, columns = Infinity): string {
  const flags = [...Object.entries<Flag>(command.flags), ["help", HELP_FLAG] as const];
  return [
    `octant ${usageOf(command)}`,
    wrap(command.summary, columns),
    toTable(
      "Flags:",
      flags.map(([name, flag]) => [flagName(name, flag), explain(flag)]),
      columns,
    ),
    ...(command.notes ? [wrap(command.notes, columns)] : []),
    wrap(command.exitCodes ?? EXIT_CODES, columns),
  ].join("\n\n");
}

const MAX_FIRST_CHARS = 24;

/** Two columns. On a terminal the second is wrapped, and begins below a first cell that is too long. */
function toTable(title: string, rows: readonly (readonly [string, string])[], columns: number): string {
  const widest = Math.max(...rows.map(([cell]) => cell.length));
  const indent = " ".repeat(4 + (columns === Infinity ? widest : Math.min(MAX_FIRST_CHARS, widest)));
  const lines = rows.flatMap(([cell, text]) => {
    const [first = "", ...rest] = wrap(text, columns - indent.length).split("\n");
    const head = `  ${cell}  `;
    const begin =
      head.length > indent.length ? [head.trimEnd(), indent + first] : [head.padEnd(indent.length) + first];
    return [...begin, ...rest.map((line) => indent + line)];
  });
  return [title, ...lines].join("\n");
}

/** Breaks paragraphs at the width; indented lines are examples and stay as they are. */
function wrap(text: string, columns: number): string {
  if (columns === Infinity) return text;
  const broken = new RegExp(`(?=\\S).{1,${columns}}(?!\\S)|\\S+`, "g");
  return text
    .replaceAll(/(?<=^\S.*)\n(?=\S)/gm, " ")
    .split("\n")
    .map((line) => (line.startsWith(" ") ? line : (line.match(broken)?.join("\n") ?? "")))
    .join("\n");
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
