import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createScriptedProvider } from "@octant/scripted-provider";
import { expect, test, vi } from "vitest";
import { git } from "../packages/hub/testing/open-hub.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { runOctant } from "./octant-process.ts";
import { SOURCE_LAUNCHER } from "./published-command.ts";
import { startHub } from "./start-hub.ts";

interface Spawned {
  readonly project_id: string;
  readonly session_id: string;
  readonly workspace_id: string;
}
const DEFAULTS = ["--engine", "auto"];
const KEY = "sk-test-0123456789abcdef";
const run = (command: readonly string[]) => ({
  parts: [{ call: "proc", input: { action: "exec", command } }],
});

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
  let started: Awaited<ReturnType<typeof startHub>> | undefined;
  try {
    const source = join(project.root, "..", "source");
    mkdirSync(source);
    git(source, "init", "-q", "-b", "main");
    writeFileSync(join(source, "a.txt"), "one\n");
    git(source, "add", "-A");
    git(source, "commit", "-qm", "First");
    const env = { ...project.env, ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: provider.baseUrl("anthropic") };
    started = await startHub(env, project.root, [], DEFAULTS, SOURCE_LAUNCHER);
    let { child, call } = started;
    const { project_id } = await call<Spawned>("project.create", {
      name: "demo",
      folder: source,
      model: "some-model",
      permissions: [{ tool_pattern: "fs.read", mode: "deny", args: { path: "a.txt" } }],
    });
    const { session_id, workspace_id } = await call<Spawned>("session.spawn", {
      project_id,
      message: "Make it.",
    });
    const events = async () =>
      JSON.stringify(
        (await call<{ events: object[] }>("session.events", { session_id, max_events: 500 })).events,
      );
    await vi.waitFor(async () => expect(await events()).toContain("end-of-look"), {
      timeout: 60_000,
      interval: 200,
    });
    const seen = await events();
    for (const hidden of ["SECRET-OF-THE-PERSON", KEY, "hub.db"]) expect(seen).not.toContain(hidden);
    child.kill("SIGKILL");
    await once(child, "close");
    started = await startHub(env, project.root, [], DEFAULTS, SOURCE_LAUNCHER);
    ({ child, call } = started);
    await vi.waitFor(
      async () => expect((await call<{ state: string }>("session.get", { session_id })).state).toBe("idle"),
      {
        timeout: 60_000,
        interval: 200,
      },
    );
    expect(await call("session.get", { session_id })).toMatchObject({ outcome: "done" });
    expect(await events()).toContain("PERMISSION_DENIED");
    expect(await call("workspace.merge", { workspace_id })).toMatchObject({ merged: true, pushed: true });
    expect(readFileSync(join(source, "made.txt"), "utf8")).toBe("made\n");
    // Its container would stay in the engine.
    expect(await call("project.delete", { project_id, force: true })).toEqual({ deleted: true });
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([0, null]);
  } finally {
    started?.child.kill("SIGKILL");
    await provider.close();
    rmSync(secret, { force: true });
  }
});

test("octant call reaches the tools of a hub over HTTP, and a second hub on its folder is refused", async () => {
  using project = createFixtureProject();
  const { child, url, token } = await startHub(project.env, project.root);
  const octant = (args: readonly string[], more: Record<string, string> = {}) =>
    runOctant(args, { cwd: project.root, env: { ...project.env, ...more } });
  const call = (...args: readonly string[]) =>
    octant(["call", "--via", url, ...args], { OCTANT_TOKEN: token });
  try {
    const made = await call("project.create", "name=demo", 'limits={"max_sessions":3}', "--json");
    expect(JSON.parse(made.stdout)).toMatchObject({
      ok: true,
      data: { name: "demo", limits: { max_sessions: 3 } },
    });
    const listed = await call("project.list");
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining("name: demo") });
    expect((await call("project.foo")).stderr).toContain(
      "unknown action 'foo' for project tool; valid actions: create, list, get",
    );
    expect((await call("project.create", "name=a b")).stderr).toContain(
      `call --via ${url} project.help about=create shows the accepted input`,
    );
    const image = await call("project.create", "name=image", "image=x", "--json");
    const { project_id } = JSON.parse(image.stdout).data;
    const started = await call("container.start", `project_id=${project_id}`);
    expect(started.stderr).toMatch(/UNSUPPORTED: the local engine has no images.*\nhint: use Podman: /);
    expect(await octant(["call", "--via", url, "project.list"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("OCTANT_TOKEN"),
    });
    const second = await octant(["hub", "--port", "0", "--engine", "local"]);
    expect(second.stderr).toContain("another hub runs on");
    expect(second.stderr).not.toContain("trying again");
    const folder = join(project.root, "never");
    const { port } = new URL(url);
    const third = await octant(["hub", "--port", port, "--folder", folder, "--engine", "local"]);
    expect(third).toMatchObject({ code: 2, stderr: expect.stringMatching(/in use[^\n]*\n.*--port 0/) });
    expect(existsSync(folder)).toBe(false);
    const broken = join(project.root, "broken.tar.gz");
    writeFileSync(broken, "not a backup");
    const restored = await octant(["hub", "restore", broken, "--folder", join(project.root, "new")]);
    expect(restored.stderr).toMatch(/^octant: INVALID_ARGUMENT: the backup cannot be restored: [^\\\n]+\n$/);
    expect(existsSync(join(project.root, "new"))).toBe(false);
  } finally {
    child.kill("SIGTERM");
    await once(child, "close");
  }
});

const NOWHERE = "nats://127.0.0.1:1";
test.each([
  ["host", "--max-sessions", "0", "a whole number, 1 or more"],
  ["host", "--memory-mb", "0", "a whole number, 1 or more"],
  ["host", "--nats-replicas", "0", "a whole number from 1 to 5"],
  ["hub", "--nats-replicas", "6", "a whole number from 1 to 5"],
  ["hub", "--port", "65536", "a whole number from 0 to 65535"],
  ["console", "--port", "65536", "a whole number from 0 to 65535"],
])("octant %s %s %s is refused, and the message says what is valid", async (command, flag, value, valid) => {
  using project = createFixtureProject();
  const nats = command === "console" ? [] : ["--nats", NOWHERE];
  const { code, stderr } = await runOctant([command, ...nats, flag, value], {
    cwd: project.root,
    env: project.env,
  });
  expect(stderr).toContain(`${flag} takes ${valid}, not '${value}'`);
  expect(code).toBe(2);
});
