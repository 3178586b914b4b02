import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { createFixtureProject } from "./fixture-project.ts";
import { openTerminal } from "./pty-terminal.ts";
import { accountAt } from "./scripted-account.ts";

export interface ChatOptions {
  readonly size?: readonly [columns: number, rows: number];
  /** The background colour that the terminal reports. */
  readonly background?: string;
}

/** A person's shell in a project, with a scripted model. `start` begins the chat. */
export async function openChat(script: Script, { size = [100, 30], background }: ChatOptions = {}) {
  const provider = await createScriptedProvider(script);
  const project = createFixtureProject();
  const env = {
    ...project.env,
    ...accountAt(provider),
  };
  const terminal = openTerminal(project.root, env, ...size, background);
  await terminal.shows("$");
  terminal.type("echo a line of the shell\r");
  await terminal.shows(/^a line of the shell$/m);
  return {
    provider,
    project,
    terminal,
    /** Waits for the prompt. Variables and flags are as in the shell. */
    async start(variables = "", flags = "") {
      terminal.type(`${variables} $OCTANT --model some-model ${flags}\r`);
      await terminal.shows("ask, or / for commands");
    },
    async [Symbol.asyncDispose]() {
      await terminal[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      project[Symbol.dispose]();
    },
  };
}
