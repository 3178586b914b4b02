import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { runSlashLine } from "../packages/cli/src/agent/commands/index.ts";
import { openAgent } from "../packages/cli/src/agent/open-agent.ts";
import type { FixtureProject } from "./fixture-project.ts";
import { accountAt } from "./scripted-account.ts";

/** A session in this process, as a terminal has it, whose model plays the script. */
export async function openSlashSession(
  project: FixtureProject,
  script: Script,
  variables: NodeJS.ProcessEnv = {},
) {
  const provider = await createScriptedProvider(script);
  const env = {
    ...project.env,
    ...accountAt(provider),
    ...variables,
  };
  const { stdin, stdout, stderr } = process;
  const io = { stdin, stdout, stderr, env, cwd: () => project.root };
  const flags = {
    root: [project.root],
    mode: undefined,
    tools: undefined,
    "net-allow": undefined,
    screen: false,
  };
  const opened = await openAgent({ flags, io, provider: "anthropic", model: "m" });
  const run = async (line: string) =>
    (await runSlashLine(line, { opened, io, signal: new AbortController().signal }))?.text ?? "";
  return {
    opened,
    io,
    provider,
    run,
    env,
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}
