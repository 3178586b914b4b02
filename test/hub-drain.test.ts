import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createScriptedProvider } from "@octant/scripted-provider";
import { expect, onTestFinished, test, vi } from "vitest";
import { git } from "../packages/hub/testing/open-hub.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { modelOf, startHub } from "./start-hub.ts";

const WAIT = { timeout: 60_000, interval: 50 };
/** Runs until the test creates the file `go`. */
const WAITING = "touch began; until test -e go; do sleep 0.05; done; echo ended-by-itself";

test("SIGTERM lets a running tool call end, and its session goes on at the next start", async () => {
  using project = createFixtureProject();
  const hubs = { started: 0 };
  const askedIn: number[] = [];
  const provider = await createScriptedProvider(({ answers }) => {
    askedIn.push(hubs.started);
    return answers === 0
      ? { parts: [{ call: "proc", input: { action: "exec", command: ["sh", "-c", WAITING] } }] }
      : { parts: [{ text: "Done." }] };
  });
  onTestFinished(() => provider.close());
  const env = {
    ...project.env,
    ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
    ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
  };
  const folder = join(project.root, "..", "hub-state");
  const start = () => {
    hubs.started += 1;
    return startHub(env, project.root, ["--folder", folder]);
  };
  const first = await start();
  let said = "";
  first.child.stderr.on("data", (chunk) => (said += String(chunk)));
  const { project_id } = await first.call<{ project_id: string }>("project.create", {
    name: "demo",
    model: "some-model",
  });
  const { session_id, workspace_id } = await first.call<{ session_id: string; workspace_id: string }>(
    "session.spawn",
    { project_id, message: "Go." },
  );
  const place = join(folder, "projects", project_id, "workspaces", workspace_id);
  await vi.waitFor(() => expect(existsSync(join(place, "began"))).toBe(true), WAIT);
  first.child.kill("SIGTERM");
  await vi.waitFor(() => expect(said).toContain("waits for 1 running tool call"), WAIT);
  expect(first.child.exitCode).toBeNull();
  // A balancer learns it, and its events can still be read.
  const ready = await fetch(new URL("/readyz", first.url));
  expect([ready.status, await ready.text()]).toEqual([503, "stopping\n"]);
  expect((await fetch(new URL("/healthz", first.url))).status).toBe(200);
  expect(await first.call("session.events", { session_id })).toMatchObject({ state: "working" });
  await expect(first.call("session.spawn", { project_id, message: "More." })).rejects.toThrow("OVERLOADED");
  writeFileSync(join(place, "go"), "");
  expect(await once(first.child, "close")).toEqual([0, null]);

  const second = await start();
  await vi.waitFor(
    async () =>
      expect(await second.call("session.get", { session_id })).toMatchObject({
        state: "idle",
        outcome: "done",
      }),
    WAIT,
  );
  const { events } = await second.call<{ events: { type: string }[] }>("session.events", {
    session_id,
    max_events: 500,
  });
  expect(events.filter(({ type }) => type === "tool_began")).toHaveLength(1);
  const ended = events.filter(({ type }) => type === "tool_ended");
  expect(ended).toHaveLength(1);
  expect(JSON.stringify(ended)).toContain("ended-by-itself");
  expect(askedIn).toEqual([1, 2]);
  second.child.kill("SIGTERM");
  expect(await once(second.child, "close")).toEqual([0, null]);
});

/** Runs until the test creates the file `go` beside the workspaces. */
const PREPARING = "cd /workspaces && touch began && until test -e go; do sleep 0.05; done";
const MAX_END_MS = 8_000;

test("SIGTERM cancels the start of a container that a call waits for", async () => {
  using project = createFixtureProject();
  const folder = join(project.root, "..", "hub-state");
  const { child, call } = await startHub(project.env, project.root, ["--folder", folder]);
  const { project_id } = await call<{ project_id: string }>("project.create", {
    ...{ name: "demo", ready_command: ["sh", "-c", PREPARING] },
  });
  const starting = call("container.start", { project_id }).catch(() => "failed");
  const began = join(folder, "projects", project_id, "workspaces", "began");
  await vi.waitFor(() => expect(existsSync(began)).toBe(true), WAIT);
  child.kill("SIGTERM");
  expect(await once(child, "close")).toEqual([0, null]);
  expect(await starting).toBe("failed");
});

test.each([
  ["postCreateCommand", { postCreateCommand: PREPARING }, {}],
  ["ready_command", {}, { ready_command: ["sh", "-c", PREPARING] }],
])(
  "SIGTERM cancels the %s of a session, which goes on at the next start",
  async (_, devcontainer, settings) => {
    using project = createFixtureProject();
    const provider = await createScriptedProvider(() => ({ parts: [{ text: "Done." }] }));
    onTestFinished(() => provider.close());
    const env = { ...project.env, ...modelOf(provider) };
    const folder = join(project.root, "..", "hub-state");
    const source = join(project.root, "..", "source");
    mkdirSync(source);
    git(source, "init", "-q", "-b", "main");
    writeFileSync(join(source, ".devcontainer.json"), JSON.stringify(devcontainer));
    git(source, "add", "-A");
    git(source, "commit", "-qm", "First");
    const start = () => startHub(env, project.root, ["--folder", folder]);
    const first = await start();
    const { project_id } = await first.call<{ project_id: string }>("project.create", {
      ...{ name: "demo", folder: source, model: "some-model" },
      ...settings,
    });
    const { session_id } = await first.call<{ session_id: string }>("session.spawn", {
      ...{ project_id, message: "Go." },
    });
    const place = join(folder, "projects", project_id, "workspaces");
    await vi.waitFor(() => expect(existsSync(join(place, "began"))).toBe(true), WAIT);
    const began = performance.now();
    first.child.kill("SIGTERM");
    expect(await once(first.child, "close")).toEqual([0, null]);
    expect(performance.now() - began).toBeLessThan(MAX_END_MS);
    writeFileSync(join(place, "go"), "");

    const second = await start();
    await vi.waitFor(
      async () =>
        expect(await second.call("session.get", { session_id })).toMatchObject({
          state: "idle",
          outcome: "done",
        }),
      WAIT,
    );
    second.child.kill("SIGTERM");
    expect(await once(second.child, "close")).toEqual([0, null]);
  },
);
