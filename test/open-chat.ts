import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { createFixtureProject } from "./fixture-project.ts";
import { openTerminal } from "./pty-terminal.ts";

/** A person's shell in a project, with a scripted model to talk to; `$OCTANT --model some-model` starts the chat. */
export async function openChat(script: Script, size: [number, number] = [100, 30], background?: string) {
  const provider = await createScriptedProvider(script);
  const project = createFixtureProject();
  const env = {
    ...project.env,
    ANTHROPIC_API_KEY: "sk-test-0123456789",
    ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
  };
  const terminal = openTerminal(project.root, env, ...size, background);
  await terminal.shows("$");
  terminal.type("echo a line of the shell\r");
  await terminal.shows(/^a line of the shell$/m);
  return {
    provider,
    project,
    terminal,
    async [Symbol.asyncDispose]() {
      await terminal[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      project[Symbol.dispose]();
    },
  };
}
