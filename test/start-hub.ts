import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ScriptedProvider } from "@octant/scripted-provider";
import { modernRequest } from "../packages/mcp/testing/http.ts";
import { startOctant } from "./octant-process.ts";
import { CONTAINED_LAUNCHER } from "./published-command.ts";

/** The environment of a hub whose model is scripted. */
export const modelOf = (provider: Pick<ScriptedProvider, "baseUrl">) => ({
  ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
  ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
});

/** The hub as a person starts it, on a free port, with the state of the earlier start; the local engine unless flags say otherwise. */
export async function startHub(
  env: Record<string, string | undefined>,
  cwd: string,
  flags: readonly string[] = [],
  containers: readonly string[] = ["--engine", "local"],
  launcher = CONTAINED_LAUNCHER,
) {
  const child = startOctant(["hub", "--port", "0", "--json", ...containers, ...flags], {
    cwd,
    env,
    launcher,
  });
  const said = listen(child);
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  // The command prints this line.
  const { url, token } = JSON.parse(String(line)) as { url: string; token: string };
  const call = async <T>(name: string, input: object, signal?: AbortSignal): Promise<T> => {
    const [tool = "", action = ""] = name.split(".");
    const { body, headers } = modernRequest(1, "tools/call", { name: tool, arguments: { action, ...input } });
    const response = await fetch(url, {
      method: "POST",
      headers: {
        ...headers,
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
    const text = await response.text();
    const message = JSON.parse(text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}"));
    const { ok, data, error } = message.result?.structuredContent ?? {};
    if (!ok) throw new Error(`${name}: ${JSON.stringify(error ?? message)}`);
    // The caller knows what the action answers.
    return data as T;
  };
  return { child, url, token, call, said };
}

/** A host as a person starts it, without the keys of models; the local engine unless flags say otherwise. */
export async function startHost(
  { ANTHROPIC_API_KEY: _key, ...env }: Record<string, string | undefined>,
  folder: string,
  flags: readonly string[] = [],
  containers: readonly string[] = ["--engine", "local"],
) {
  const child = startOctant(["host", "--folder", folder, "--json", ...containers, ...flags], {
    ...{ cwd: join(folder, ".."), env },
    launcher: CONTAINED_LAUNCHER,
  });
  const said = listen(child);
  await once(createInterface({ input: child.stdout }), "line");
  return { child, folder, said };
}

/** Its lines on stderr as they come. */
function listen(child: ChildProcessWithoutNullStreams): readonly string[] {
  const said: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => said.push(line));
  return said;
}

/** Asks the processes to end, and waits until they have. */
export async function stopAll(children: readonly ChildProcessWithoutNullStreams[]): Promise<void> {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const closed = once(child, "close");
    child.kill("SIGTERM");
    await closed;
  }
}

/** As kill -9, or the loss of the machine. */
export async function kill(child: ChildProcessWithoutNullStreams): Promise<void> {
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}
