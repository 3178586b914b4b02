import { type Agent, tokensOf, type Usage } from "@octant/agent";
import type { CommandOutcome } from "@octant/terminal";

export interface ChatContext {
  readonly agent: Agent;
  readonly usage: () => { readonly usage: Usage; readonly cost: number | null };
  readonly useModel: (name: string) => Promise<string>;
  readonly exportTo: (file: string) => Promise<string>;
}

export interface ChatCommand {
  readonly name: string;
  readonly argument?: string;
  readonly summary: string;
  run(argument: string, context: ChatContext): Promise<CommandOutcome> | CommandOutcome;
}

/** Everything that can be typed after "/", in the order of the help. */
export const CHAT_COMMANDS: readonly ChatCommand[] = [
  { name: "help", summary: "List the commands and keys", run: () => ({ text: helpText() }) },
  {
    name: "model",
    argument: "NAME",
    summary: "Use another model from the next message on",
    run: async (name, { useModel, agent }) => ({
      text:
        name === "" ? `model: ${agent.session.conversation.model?.id ?? "none yet"}` : await useModel(name),
    }),
  },
  {
    name: "compact",
    summary: "Make the conversation shorter now",
    run: async (_, { agent }) =>
      (await agent.compact()) ? undefined : { text: "There is nothing to leave out yet." },
  },
  {
    name: "cost",
    summary: "Show tokens and cost of this session",
    run: (_, { usage }) => {
      const { usage: used, cost } = usage();
      return {
        text: `${tokensOf(used)} tokens, ${cost === null ? "cost not known" : `$${cost.toFixed(4)}`}`,
      };
    },
  },
  {
    name: "export",
    argument: "FILE",
    summary: "Write this session to a file: .html, .md or .json",
    run: async (file, { exportTo }) => ({ text: await exportTo(file === "" ? "session.html" : file) }),
  },
  { name: "quit", summary: "Leave", run: () => ({ quit: true }) },
];

const KEYS = `| key | does |
|---|---|
| Enter | send, or queue while the agent works |
| Shift-Enter, Ctrl-J | new line |
| Esc | stop the agent |
| @ and / | complete a path or a command |
| Up, Down, Ctrl-R | history and its search |
| Ctrl-G | write in your editor |
| Ctrl-O | the whole conversation, searchable |
| Ctrl-C | stop, clear, leave |
`;

const helpText = () =>
  `${CHAT_COMMANDS.map(({ name, argument, summary }) => `- \`/${name}${argument ? ` ${argument}` : ""}\` ${summary}`).join("\n")}\n\n${KEYS}`;

/** Runs a line such as "/model opus". Returns undefined for an unknown command. */
export async function runChatCommand(line: string, context: ChatContext): Promise<CommandOutcome> {
  const [, name = "", argument = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const command = CHAT_COMMANDS.find((one) => one.name === name);
  if (!command) return { text: `There is no command \`/${name}\`; \`/help\` lists them.` };
  return command.run(argument.trim(), context);
}
