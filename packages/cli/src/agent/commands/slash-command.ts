import type { Io } from "../../command.ts";
import type { OpenedAgent, SessionChoice } from "../open-agent.ts";

/** What a command asks its front end to do. */
export interface SlashOutcome {
  /** Markdown for the person. */
  readonly text?: string;
  /** A message to the model, as if the person had typed it. */
  readonly send?: string;
  /** Put into the input line, for the person to edit and to send. */
  readonly draft?: string;
  readonly quit?: boolean;
  /** Go on with another session, in this place. */
  readonly next?: SessionChoice | "new";
}

/** What commands stand on. A front end gives it what it can. */
export interface SlashContext {
  readonly opened: OpenedAgent;
  readonly io: Io;
  /** The front end has an input line, in which a draft can be edited. */
  readonly hasInput?: boolean;
  /** What the help says below the commands. */
  readonly helpNotes?: string;
  readonly signal: AbortSignal;
}

/** One command that a person can type after "/". Help, completion and every front end read it from here. */
export interface SlashCommand {
  readonly name: string;
  /** How the argument is shown in the help. */
  readonly argument?: string;
  readonly summary: string;
  /** It is about the terminal itself, such as leaving it or changing the session in it. */
  readonly onlyInTerminal?: true;
  /** Whether somebody from elsewhere may run it: it touches nothing but their own session. */
  readonly isForRemote?: true;
  /** Values for the argument, for completion. */
  complete?(context: SlashContext): Promise<readonly string[]> | readonly string[];
  run(argument: string, context: SlashContext): Promise<SlashOutcome | undefined> | SlashOutcome | undefined;
}

/** As a block of Markdown that keeps its lines. */
export const asBlock = (text: string, language = ""): string => {
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
};
