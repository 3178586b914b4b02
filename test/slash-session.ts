import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { openAgent } from "../packages/app/src/agent/open-agent.ts";
import { runSlashLine } from "../packages/app/src/slash/index.ts";
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
  const cwd = project.root;
  const opened = await openAgent({ roots: [cwd], env, provider: "anthropic", model: "m" });
  const run = async (line: string) =>
    (await runSlashLine(line, { opened, cwd, signal: new AbortController().signal }))?.text ?? "";
  return {
    opened,
    cwd,
    provider,
    run,
    env,
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}
