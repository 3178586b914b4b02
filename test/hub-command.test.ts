import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createScriptedProvider } from "@octant/scripted-provider";
import { expect, test, vi } from "vitest";
import { git } from "../packages/hub/testing/open-hub.ts";
import { modernRequest } from "../packages/mcp/testing/http.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { startOctant } from "./octant-process.ts";

/** The command that other tests build links to packages of the checkout, which a container does not see. */
const LAUNCHER = join(import.meta.dirname, "../packages/cli/bin/octant.js");
const KEY = "sk-test-0123456789abcdef";
const run = (command: readonly string[]) => ({
  parts: [{ call: "proc", input: { action: "exec", command } }],
});

/** The hub as a person starts it: the command, its defaults, an empty home. */
async function startHub(env: Record<string, string | undefined>, cwd: string) {
  const child = startOctant(["hub", "--port", "0", "--json"], { cwd, env, launcher: LAUNCHER });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const { url, token } = JSON.parse(String(line)) as { url: string; token: string };
  const call = async (name: string, input: object = {}): Promise<Record<string, never>> => {
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
    });
    const text = await response.text();
    const message = JSON.parse(text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}"));
    const { ok, data, error } = message.result?.structuredContent ?? {};
    if (!ok) throw new Error(`${name}: ${JSON.stringify(error ?? message)}`);
    return data;
  };
  return { child, call };
}

test("octant hub: a session works behind the sandbox, survives a kill of the hub, and its branch is merged", async () => {
  using project = createFixtureProject();
  const secret = join(project.root, "..", "person-secret");
  writeFileSync(secret, "SECRET-OF-THE-PERSON\n");
  const provider = await createScriptedProvider(
    ({ answers }) =>
      [
        run(["sh", "-c", `cat ${secret}; env; ls / /root; cat /proc/1/environ; echo end-of-look`]),
        { parts: [{ call: "fs", input: { action: "read", uri: "a.txt" } }] },
        run(["sh", "-c", "echo made > made.txt; sleep 2"]),
        { parts: [{ text: "Done." }] },
      ][answers] ?? { parts: [{ text: "Nothing more." }] },
  );
  try {
    const source = join(project.root, "..", "source");
    mkdirSync(source);
    git(source, "init", "-q", "-b", "main");
    writeFileSync(join(source, "a.txt"), "one\n");
    git(source, "add", "-A");
    git(source, "commit", "-qm", "First");
    const env = { ...project.env, ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: provider.baseUrl("anthropic") };
    let { child, call } = await startHub(env, project.root);
    const { project_id } = await call("project.create", {
      name: "demo",
      folder: source,
      model: "some-model",
      permissions: [{ tool_pattern: "fs.read", mode: "deny", args: { path: "a.txt" } }],
    });
    const { session_id, workspace_id } = await call("session.spawn", { project_id, message: "Make it." });
    const events = async () =>
      JSON.stringify((await call("session.events", { session_id, max_events: 500 }))["events"]);
    await vi.waitFor(async () => expect(await events()).toContain("end-of-look"), {
      timeout: 60_000,
      interval: 200,
    });
    const seen = await events();
    for (const hidden of ["SECRET-OF-THE-PERSON", KEY, "hub.db"]) expect(seen).not.toContain(hidden);
    child.kill("SIGKILL");
    await once(child, "close");
    ({ child, call } = await startHub(env, project.root));
    await vi.waitFor(async () => expect((await call("session.get", { session_id }))["state"]).toBe("idle"), {
      timeout: 60_000,
      interval: 200,
    });
    expect(await call("session.get", { session_id })).toMatchObject({ outcome: "done" });
    expect(await events()).toContain("PERMISSION_DENIED");
    expect(await call("workspace.merge", { workspace_id })).toMatchObject({ merged: true, pushed: true });
    expect(readFileSync(join(source, "made.txt"), "utf8")).toBe("made\n");
    // Its container would stay in the engine.
    expect(await call("project.delete", { project_id, force: true })).toEqual({ deleted: true });
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([0, null]);
  } finally {
    await provider.close();
    rmSync(secret, { force: true });
  }
});
