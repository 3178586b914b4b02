import { action, createRegistry, defineTool, didYouMean, ToolError } from "@octant/core";
import { z } from "zod";
import { COMMANDS_FOLDERS, markdownFiles } from "../agent/markdown-files.ts";
import type { OpenedAgent } from "../agent/open-agent.ts";
import { LOCAL_CALLER } from "../edges.ts";
import { CONTEXT_COMMANDS } from "./context-commands.ts";
import { fileCommands } from "./file-commands.ts";
import { GIT_COMMANDS } from "./git-commands.ts";
import { INFO_COMMANDS } from "./info-commands.ts";
import { promptCommands } from "./prompt-commands.ts";
import { ROLE_COMMANDS } from "./role-commands.ts";
import { SESSION_COMMANDS } from "./session-commands.ts";
import { skillCommands, skills } from "./skill-commands.ts";
import type { SlashCommand, SlashContext, SlashOutcome } from "./slash-command.ts";

export type { SlashCommand, SlashContext, SlashOutcome } from "./slash-command.ts";

const help: SlashCommand = {
  name: "help",
  onlyInTerminal: true,
  summary: "List the commands",
  run: (_, { opened, helpNotes = "" }) => {
    const lines = listCommands(opened).map(
      ({ name, argument, summary }) => `- \`/${name}${argument ? ` ${argument}` : ""}\` ${summary}`,
    );
    return { text: `${lines.join("\n")}${helpNotes && `\n\n${helpNotes}`}` };
  },
};

/** All slash commands, in the order of the help. */
const COMMANDS: readonly SlashCommand[] = [
  help,
  ...ROLE_COMMANDS,
  ...GIT_COMMANDS.map((command) => ({ ...command, onlyWithLocalTools: true as const })),
  ...SESSION_COMMANDS,
  skills,
  ...CONTEXT_COMMANDS,
  ...INFO_COMMANDS,
];

/** The built-in commands, the project's trusted ones, and the prompts of MCP servers. */
export const listCommands = ({
  octant,
  servers,
  env,
  host,
}: Pick<OpenedAgent, "octant" | "servers" | "env" | "host">): readonly SlashCommand[] => [
  ...COMMANDS,
  ...withoutTaken([...fileCommands({ host }), ...skillCommands({ octant, env })]),
  ...promptCommands(servers),
];

/** The first command of a name counts, and no file can replace a built-in one. */
const withoutTaken = (commands: readonly SlashCommand[]): readonly SlashCommand[] =>
  commands.filter(
    ({ name }, at) =>
      !COMMANDS.some((one) => one.name === name) && commands.findIndex((one) => one.name === name) === at,
  );

/** Whether a line is a slash command: a path such as /usr/bin is not. */
export const isSlashLine = (line: string): boolean => /^\/[a-z][\w:.-]*(\s|$)/i.test(line);

/** Runs a line such as "/model opus". A failure is returned as text. */
export async function runSlashLine(line: string, context: SlashContext): Promise<SlashOutcome | undefined> {
  const [, typed = "", argument = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const { opened } = context;
  // A server's prompts are known once it has responded.
  if (typed.includes(":")) await opened.servers.settled();
  const commands = listCommands(opened);
  const known = (name: string) => commands.find((one) => one.name === name);
  const name = known(typed) ? typed : (OTHER_NAMES.get(typed) ?? typed);
  const command = known(name);
  if (command?.onlyWithLocalTools && opened.isRemote) throw notOnHost(name);
  if (command) return runAudited(command, argument.trim(), context);
  const waiting = COMMANDS_FOLDERS.flatMap((folder) => markdownFiles(opened.octant, folder))
    .filter((file) => file.name === name)
    .map(({ path }) => path);
  if (waiting.length > 0)
    throw new ToolError(
      "UNTRUSTED_CONFIG",
      `/${name} is a command of this project that you do not trust yet, or that has changed; octant trust shows it and asks`,
      { waiting },
    );
  const names = commands.map((one) => one.name);
  throw new ToolError(
    "NOT_FOUND",
    `there is no command /${name}; ${ELSEWHERE.get(name) ?? `/help lists them.${didYouMean(name, names)}`}`,
    {},
  );
}

/** Names of the same commands in other agents; a command of the project may have them instead. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["exit", "quit"],
  ["new", "clear"],
  ["reset", "clear"],
  ["continue", "resume"],
  ["usage", "cost"],
  ["allowed-tools", "permissions"],
  ["approvals", "permissions"],
  ["models", "model"],
  ["sessions", "resume"],
  ["history", "resume"],
  ["compress", "compact"],
  ["share", "export"],
  ["stats", "cost"],
  ["tasks", "jobs"],
  ["bashes", "jobs"],
  ["ps", "jobs"],
  ["checkpoint", "rewind"],
  ["restore", "rewind"],
]);

/** Commands of other agents, and where Octant has the same. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["hooks", "hooks are in the settings: octant config shows them"],
  ["config", "octant config shows the settings, in a shell"],
  ["settings", "octant config shows the settings, in a shell"],
  ["status", "the status line, /context and /cost show the state; octant doctor checks the installation"],
  ["doctor", "octant doctor checks the installation, in a shell"],
  ["tools", "octant tools lists them, in a shell"],
  ["logout", "octant logout does it, in a shell"],
  ["vim", "the setting input_mode, or octant --input-mode vim, does it"],
  ["theme", "the colours are those of your terminal; OCTANT_THEME=light or dark overrides them"],
  ["terminal-setup", "nothing has to be set up: Ctrl-J begins a new line in every terminal"],
  ["statusline", "the setting status_line names a command"],
  ["effort", "octant --thinking off, low, medium or high sets it"],
  ["think", "octant --thinking off, low, medium or high sets it"],
  ["add-dir", "octant --root DIR, which may be repeated, names the folders"],
  ["directory", "octant --root DIR, which may be repeated, names the folders"],
  ["sandbox", "Shift-Tab switches to the mode sandbox; octant sandbox shows what confines commands"],
  ["yolo", "Shift-Tab switches to the mode sandbox, which asks least"],
  ["todos", "the agent shows its plan as it works"],
  ["mention", "@ in a message finds a file"],
  ["editor", "Ctrl-G opens your own editor"],
  ["rename", "a session has its first message as its title"],
  ["security-review", "/mode security looks for ways to misuse the project"],
  ["ide", "octant setup registers Octant in editors, in a shell"],
  ["output-style", "custom_instructions in your settings say how to answer"],
]);

const notOnHost = (name: string): ToolError =>
  new ToolError("UNSUPPORTED", `/${name} acts on this machine, but the tools of this session run on a host`, {
    what: `/${name} with --host`,
    how: "ask the agent to do it, or run it on the host",
  });

/** Commands appear in the audit log under this name: `command.commit`. */
const TOOL = "command";

/** Runs a command that the person typed. The audit log records it before it starts, and its outcome. */
async function runAudited(
  { name, summary, run }: SlashCommand,
  argument: string,
  context: SlashContext,
): Promise<SlashOutcome | undefined> {
  let outcome: SlashOutcome | undefined;
  let failure: { readonly cause: unknown } | undefined;
  const tool = defineTool({
    name: TOOL,
    summary: "Commands of the person.",
    actions: {
      // MCP prompt names may contain characters that are invalid in action names.
      [name.replaceAll(/[^a-z0-9_]/gi, "_")]: action({
        summary,
        access: "write",
        timing: "sync",
        intent: "inspect",
        input: z.strictObject({ argument: z.string() }),
        output: z.object({}),
        examples: [{ title: name, input: { argument: "" } }],
        async run() {
          try {
            outcome = await run(argument, context);
          } catch (cause) {
            failure = { cause };
            throw cause;
          }
          return {};
        },
      }),
    },
  });
  const { octant, agent } = context.opened;
  const [act = ""] = Object.keys(tool.actions);
  const { envelope } = await octant.dispatchAsPerson(createRegistry([tool]))(
    { tool: TOOL, action: act, input: { argument } },
    { caller: { ...LOCAL_CALLER, id: agent.session.id }, signal: context.signal },
  );
  if (failure) throw failure.cause;
  if (!envelope.ok) throw new Error(envelope.error.message);
  // A model that has not begun has seen nothing that could have changed.
  if (outcome?.isNews && agent.session.conversation.messages.length > 0)
    await agent.note(toNews(`/${name} ${argument}`.trim(), outcome.text ?? ""));
  return outcome;
}

const MAX_NEWS_CHARS = 4_000;

const toNews = (line: string, text: string): string => {
  const shown = text.length > MAX_NEWS_CHARS ? `${text.slice(0, MAX_NEWS_CHARS).toWellFormed()}\n…` : text;
  return `The person ran ${line} themselves, which may have changed files that you have read or edited:\n\n${shown}`;
};
