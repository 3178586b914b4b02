import { toOneLine } from "@octant/core";
import { z } from "zod";

export const PERMISSION_MODES = ["allow", "deny", "prompt"] as const;
export const PermissionMode = z.enum(PERMISSION_MODES);
export type PermissionMode = z.output<typeof PermissionMode>;

const MAX_PATTERN_CHARS = 500;
const MAX_VALUES = 200;

/**
 * A glob on `tool.action` or `mcp__server__tool`. `fs` matches all actions of fs, `mcp__git` all tools of that
 * server, `*` everything. There is no `!`: use a deny rule.
 */
export const ToolPattern = z
  .string()
  .min(1)
  .max(MAX_PATTERN_CHARS)
  .regex(
    /^[\w.*?{},[\]-]+$/,
    "a tool pattern is made of names, '.', '*', '?', '{a,b}' and '[ab]'; for an exception write a rule of its own before it",
  )
  .describe("Glob on tool.action or mcp__server__tool; a bare tool name means all its actions");

const PathGlob = z
  .string()
  .min(1)
  .max(MAX_PATTERN_CHARS)
  .refine(
    (glob) => !glob.startsWith("!"),
    "a path glob cannot start with '!'; write a rule of its own for it",
  )
  .refine((glob) => !glob.split("/").includes(".."), "a path glob has no '..'; write where it leads");

const HostPattern = z
  .string()
  .max(MAX_PATTERN_CHARS)
  .regex(
    /^(\*|(\*\.)?[^\s/?#@*:[\]]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i,
    "a host is a name or an address with an optional port, such as example.com, *.example.com:443 or [::1]:8080",
  );

const Words = z.array(z.string().min(1)).min(1).max(MAX_VALUES);
const Value = z.union([z.string(), z.number(), z.boolean()]);

/** A command by its first words, its program and the words that may follow; the answer "always" writes it like this. */
export const CommandShape = z.strictObject({
  words: Words.describe("Its first words"),
  program: z
    .string()
    .regex(/^\//, "expected an absolute path")
    .optional()
    .describe("The file that the first word has to lead to"),
  folder: z
    .string()
    .min(1)
    .optional()
    .describe("The folder that it runs in, from the first root; default the root itself"),
  options: z
    .array(z.string().min(1))
    .max(MAX_VALUES)
    .describe("Options and NAME=value words that may follow; no others may"),
  operands: z
    .enum(["none", "inside"])
    .describe("Whether other words may follow; inside: those that name existing files of the project"),
});
export type CommandShape = z.output<typeof CommandShape>;

const oneOrMore = <S extends z.ZodType>(schema: S) =>
  z.union([schema, z.array(schema).min(1).max(MAX_VALUES)]);

/**
 * Conditions on the arguments; all must hold for the rule to apply. `path`, `command` and `host` look at every argument
 * that is declared to hold such a thing, any other name at the argument of that name.
 */
export const ArgumentConditions = z.preprocess(
  refuseLostNames,
  z
    .object({
      path: oneOrMore(PathGlob).describe("Globs on where paths lead, from a root or absolute").optional(),
      command: z
        .union([
          Words,
          z
            .array(z.union([Words, CommandShape]))
            .min(1)
            .max(MAX_VALUES),
        ])
        .describe('First words of a command, such as ["git", "status"]; or a list of such, or of shapes')
        .optional(),
      host: oneOrMore(HostPattern).describe("Hosts, such as *.example.com:443").optional(),
    })
    .catchall(oneOrMore(Value)),
);
export type ArgumentConditions = z.output<typeof ArgumentConditions>;

/** zod drops such a name silently; an allow rule would then apply to more than was written. */
function refuseLostNames(args: unknown, ctx: z.RefinementCtx): unknown {
  if (typeof args === "object" && args !== null && Object.hasOwn(args, "__proto__"))
    ctx.addIssue({ code: "custom", message: "no argument can be called __proto__" });
  return args;
}

export const PermissionRule = z.strictObject({
  tool_pattern: ToolPattern,
  mode: PermissionMode,
  reason: z.string().max(1_000).optional().describe("Shown when a call is refused or needs approval"),
  args: ArgumentConditions.optional(),
  expires_at: z.iso.datetime().optional().describe("From then on the rule is ignored"),
});
/** An interface, because declarations that repeat its members do not compile: some disagree with their index signature. */
export interface PermissionRule extends z.output<typeof PermissionRule> {}

/** As settings hold them: a map from pattern to mode, in its order, or a list of rules. */
export const Permissions = z.union([z.record(ToolPattern, PermissionMode), z.array(PermissionRule)]);
export type Permissions = z.output<typeof Permissions>;

export const toRules = (permissions: Permissions): readonly PermissionRule[] =>
  isList(permissions)
    ? permissions
    : Object.entries(permissions).map(([tool_pattern, mode]) => ({ tool_pattern, mode }));

const isList = (permissions: Permissions): permissions is PermissionRule[] => Array.isArray(permissions);

export const isExpired = ({ expires_at }: PermissionRule): boolean =>
  expires_at !== undefined && Date.parse(expires_at) <= Date.now();

/** The rule in one line, as written. */
export const describeRule = (rule: PermissionRule): string => describe(rule);

/** The same for a message that a model reads: it does not learn of paths outside the workspace. */
export const describeRuleInside = (rule: PermissionRule): string => describe(rule, hidePlaces);

function describe(rule: PermissionRule, hide?: typeof hidePlaces): string {
  const { tool_pattern, mode, args, expires_at } = rule;
  const until = expires_at && ` (${isExpired(rule) ? "expired" : "until"} ${expires_at.slice(0, 10)})`;
  return `${mode} ${tool_pattern}${args ? ` ${JSON.stringify(args, hide)}` : ""}${until ?? ""}`;
}

const hidePlaces = (_key: string, value: unknown) =>
  typeof value === "string" && /^[~/]/.test(value) ? "…" : value;

/** Describes what "always" allows, until when, and where it is stored: the same words wherever a person is asked. */
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

function shapeInWords({ words, program, folder, options, operands }: CommandShape): string {
  const where = program === undefined || program === words[0] ? "" : ` (${program})`;
  const place = folder === undefined ? "" : ` in ${folder}`;
  const more = [
    ...(options.length > 0 ? [`with ${options.map((one) => `\`${one}\``).join(", ")}`] : []),
    ...(operands === "inside" ? ["with files of the project"] : []),
  ];
  return `\`${words.join(" ")}\`${where}${place}${more.length > 0 ? ` ${more.join(" or ")}` : ""}, nothing else`;
}

const list = (value: unknown): string =>
  (Array.isArray(value) ? value : [value]).map((one) => `\`${String(one)}\``).join(" or ");
