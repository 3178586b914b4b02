import { once } from "node:events";
import { createInterface } from "node:readline";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { startSession } from "../mcp-session.ts";
import { startOctant } from "../octant-process.ts";
import { accountAt } from "../scripted-account.ts";
import { createCalculatorProject } from "./project.ts";

export type Scene = Awaited<ReturnType<typeof openScene>>;

/** A person's machine: a project, a console, and a server that another client started. */
export async function openScene(script: Script, { permissions = "host", model = "some-model" } = {}) {
  await using parts = new AsyncDisposableStack();
  const provider = parts.use(await createScriptedProvider(script));
  const project = parts.use(createCalculatorProject());
  const env = { ...project.env, ...accountAt(provider), HANZO_MODEL: model };
  const at = { cwd: project.root, env };
  const console = startOctant(["console", "--no-open", "--json"], at);
  parts.defer(async () => {
    console.kill("SIGTERM");
    if (console.exitCode === null && console.signalCode === null) await once(console, "exit");
  });
  let log = "";
  console.stderr.on("data", (text: Buffer) => {
    log += text;
  });
  const [line] = await once(createInterface({ input: console.stdout }), "line");
  const client = parts.use(
    await startSession(["--permissions", permissions, "--answers", "structured"], at, {
      name: "claude-code",
      version: "2.1.4",
    }),
  );
  const owned = parts.move();
  return {
    project,
    env,
    provider,
    /** A one-time link to the console. */
    link: String(JSON.parse(line).url),
    /** The MCP client of the other server. */
    client,
    log: () => log,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}
