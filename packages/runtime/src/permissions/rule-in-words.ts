import { toOneLine } from "@octant/core";
import type { ArgumentConditions, CommandShape, PermissionRule } from "./rule.ts";

/** What the answer "always" would allow, until when and where it is kept: the same words wherever a person is asked. */
export const alwaysInWords = (rule: PermissionRule): readonly string[] => [
  `"always" adds this rule to .hanzo/settings.local.json${until(rule)}:`,
  ...ruleInWords(rule).map((line) => `  ${line}`),
];

const until = ({ expires_at }: PermissionRule): string =>
  expires_at === undefined ? "" : ` until ${expires_at.slice(0, 10)}`;

/** The rule without its expiry; the commands that it is about each on a line of their own, indented. */
export function ruleInWords({ tool_pattern, mode, args = {} }: PermissionRule): readonly string[] {
  const { command = [], ...others } = args;
  const conditions = Object.entries(others).map(([name, value]) => {
    const values = list(value);
    if (name === "path") return `on the paths ${values}`;
    return name === "host" ? `to the hosts ${values}` : `where ${name} is ${values}`;
  });
  const head = [MODES[mode], tool_pattern, conditions.join(" and ")].filter(Boolean).join(" ");
  if (command.length === 0) return [toOneLine(head)];
  const which = mode === "allow" ? "every command of the line is" : "the line may hold";
  return [toOneLine(`${head} when ${which} one of these:`), ...commandsOf(command)];
}

const MODES = { allow: "allow", deny: "deny", prompt: "ask before" } as const;

const commandsOf = (command: NonNullable<ArgumentConditions["command"]>): readonly string[] =>
  (typeof command[0] === "string" ? [command as string[]] : (command as (string[] | CommandShape)[])).map(
    (one) => {
      return `  ${toOneLine("words" in one ? shapeInWords(one) : `\`${one.join(" ")}\` …`)}`;
    },
  );

function shapeInWords({ words, program, options, operands }: CommandShape): string {
  const where = program === undefined || program === words[0] ? "" : ` (${program})`;
  const more = [
    ...(options.length > 0 ? [`with ${options.map((one) => `\`${one}\``).join(", ")}`] : []),
    ...(operands === "inside" ? ["with names inside the project"] : []),
  ];
  return `\`${words.join(" ")}\`${where}${more.length > 0 ? ` ${more.join(" or ")}` : ""}, nothing else`;
}

const list = (value: unknown): string =>
  (Array.isArray(value) ? value : [value]).map((one) => `\`${String(one)}\``).join(" or ");
