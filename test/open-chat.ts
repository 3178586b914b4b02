import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { expect, vi } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { openTerminal } from "./pty-terminal.ts";
import { accountAt } from "./scripted-account.ts";

const PROMPT = "ask, or / for commands";

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
    /** Waits for a new prompt: one of an earlier chat may still be on the screen. */
    async start(variables = "", flags = "") {
      const prompts = async () => (await terminal.all()).join("\n").split(PROMPT).length;
      const earlier = await prompts();
      terminal.type(`${variables} $OCTANT --model some-model ${flags}\r`);
      await vi.waitFor(async () => expect(await prompts()).toBeGreaterThan(earlier), {
        timeout: 30_000,
        interval: 50,
      });
    },
    async [Symbol.asyncDispose]() {
      await terminal[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      project[Symbol.dispose]();
    },
  };
}
