import type { OpenedAgent, SessionChoice } from "../agent/open-agent.ts";

/** The result of a command, for its front end to carry out. */
export interface SlashOutcome {
  /** Markdown for the person. */
  readonly text?: string;
  /** A message to the model, as if the person had typed it. */
  readonly send?: string;
  /** Text for the input line, for the person to edit and send. */
  readonly draft?: string;
  /** Lines to choose from, for a front end with a menu; the text says the same to the others. */
  readonly pick?: {
    readonly title: string;
    readonly items: readonly { readonly line: string; readonly label: string; readonly detail?: string }[];
  };
  /** Text for the person's clipboard. */
  readonly copy?: string;
  /** The command changed files or commits, so the model reads the text with the next message. */
  readonly isNews?: true;
  readonly quit?: boolean;
  /** The command failed; the text says why. */
  readonly failed?: boolean;
  /** The session to continue with in this terminal. */
  readonly next?: SessionChoice | "new";
}

/** The environment of a command, as far as the front end provides it. */
export interface SlashContext {
  readonly opened: OpenedAgent;
  /** The folder that relative paths of the person start from. */
  readonly cwd: string;
  /** Whether the front end has an input line in which a draft can be edited. */
  readonly hasInput?: boolean;
  /** Text shown below the commands in the help. */
  readonly helpNotes?: string;
  readonly signal: AbortSignal;
  /** Shows the last line of a running command's output. */
  readonly onProgress?: (message: string) => void;
}

/** One slash command. Help, completion and every front end derive from it. */
export interface SlashCommand {
  readonly name: string;
  /** How the argument is shown in the help. */
  readonly argument?: string;
  readonly summary: string;
  /** It concerns the terminal itself, such as leaving it or switching its session. */
  readonly onlyInTerminal?: true;
  /** It acts on this machine, so it is refused where the tools run on a host. */
  readonly onlyWithLocalTools?: true;
  /** Safe for a remote person: it affects only their own session. */
  readonly isForRemote?: true;
  /** Completions for the argument. */
  complete?(context: SlashContext): Promise<readonly string[]> | readonly string[];
  run(argument: string, context: SlashContext): Promise<SlashOutcome | undefined> | SlashOutcome | undefined;
}

/** A Markdown code block that preserves the lines. */
export const asBlock = (text: string, language = ""): string => {
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
};
