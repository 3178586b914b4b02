import { globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toInstall } from "@octant/hub";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { processesWith } from "../packages/hub/testing/engine-contract.ts";
import { ENGINE_NAMES, openEngine, type TestEngine } from "../packages/hub/testing/engines.ts";
import { openHub } from "../packages/hub/testing/open-hub.ts";
import { createManualClock } from "../packages/terminal/src/testing/clock.ts";
import { CONTAINED_LAUNCHER } from "./published-command.ts";

interface Page {
  readonly events: readonly {
    readonly type: string;
    readonly name?: string;
    readonly data?: { readonly limit?: string; readonly reason?: string; readonly message?: string };
  }[];
}

for (const name of ENGINE_NAMES) {
  const opened = await openEngine(name);
  if (typeof opened === "string") test.skip(`sessions in containers of ${name} (not here: ${opened})`);
  else describe(`a session in a container of ${name}`, () => describeSessions(opened));
}

type Turn = readonly [tool: string, input: object];

const run = (script: string) => ({
  parts: [{ call: "proc", input: { action: "exec", command: ["sh", "-c", script] } }],
});
const use = (call: string) => ({ parts: [{ call, input: {} }] });
const { node } = toInstall(CONTAINED_LAUNCHER);
/** An MCP server with two tools. */
const SERVER = `
const tools = ["look", "forbidden"].map((name) => ({ name, description: name, inputSchema: { type: "object" } }));
const text = (text) => ({ content: [{ type: "text", text }] });
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "demo", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => text(name === "look" ? "looked at " + require("os").hostname() + " with " + process.env.DEMO_KEY.length + " characters" : "forbidden-ran"),
};
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(answer ? { result: answer(params) } : { error: { code: -32601, message: method } }) }));
});
`;
const say = (text: string) => ({ parts: [{ text }] });

function describeSessions(opened: TestEngine): void {
  afterAll(() => opened[Symbol.asyncDispose]());

  const openSession = async (script: Script, limits: object = {}, settings: object = {}) => {
    const provider = await createScriptedProvider(script);
    onTestFinished(() => provider.close());
    const env = {
      ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
      ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
    };
    const clock = createManualClock(Date.now());
    const hub = await openHub({ env, engine: opened.engine, clock });
    const { project_id } = await hub.get<{ project_id: string }>("project.create", {
      ...{ name: "demo", folder: hub.createSource(), model: "some-model", limits },
      ...settings,
    });
    const { session_id } = await hub.get<{ session_id: string }>("session.spawn", {
      project_id,
      message: "Go.",
    });
    const events = async () =>
      (await hub.get<Page>("session.events", { session_id, max_events: 500 })).events;
    const until = (check: (events: Page["events"]) => void) =>
      vi.waitFor(async () => check(await events()), { timeout: 40_000, interval: 100 });
    const settled = () =>
      vi.waitFor(
        async () => {
          const session = await hub.get<{ state: string }>("session.get", { session_id });
          expect(session.state).toBe("idle");
          return session;
        },
        { timeout: 40_000, interval: 100 },
      );
    return { ...hub, provider, clock, project_id, session_id, until, settled, events };
  };

  test("uses the MCP servers of its project, which run in the container, and knows what confines it", async () => {
    const settings = {
      mcp_servers: { demo: { command: node, args: ["-e", SERVER], env: { DEMO_KEY: "value-of-demo-key" } } },
      permissions: [{ tool_pattern: "mcp__demo__forbidden", mode: "deny" }],
    };
    const { settled, events, get, project_id, provider } = await openSession(
      [use("mcp__demo__look"), use("mcp__demo__forbidden"), run("echo confined"), say("Done.")],
      {},
      settings,
    );
    expect(await settled()).toMatchObject({ outcome: "done" });
    const all = JSON.stringify(await events());
    expect(all).toContain("looked at octant with 17 characters");
    expect(all).not.toContain("forbidden-ran");
    expect(all).not.toContain("no sandbox confined it");
    const [asked] = provider.requests;
    expect(asked?.system).toContain("Sandbox: the project's container, without a network");
    expect(asked?.tools).toContain("mcp__demo__look");
    const shown = await get<{ mcp_servers: object }>("project.get", { project_id });
    expect(shown.mcp_servers).toEqual({ demo: { command: node, args: ["-e", SERVER], env: ["DEMO_KEY"] } });
    await expect.poll(() => processesWith("value-of-demo-key")).toEqual([]);
  });

  test("has its undo, memories and long outputs in its next run, and nothing of them when its workspace is removed", async () => {
    let undo = "";
    let output = "";
    const read: string[] = [];
    const { settled, get, project_id, session_id, folder } = await openSession(
      ({ user, answers, all_results: results }) => {
        const text = results.at(-1)?.text ?? "";
        undo ||= /undo (blob:sha256:[0-9a-f]{64})/.exec(text)?.[1] ?? "";
        output ||= /stdout:proc_[0-9a-z]+/.exec(text)?.[0] ?? "";
        const first: Turn[] = [
          ["fs", { action: "create", uri: "new.txt", content: "hello" }],
          ["memory", { action: "create", text: "The build needs node 24." }],
          ["proc", { action: "exec", command: ["seq", "100000"] }],
        ];
        const second: Turn[] = [
          ["fs", { action: "apply_patch", patch: undo }],
          ["memory", { action: "manage" }],
          ["fs", { action: "read", uri: output, range: { start: { line: 99_998 }, end: { line: 99_999 } } }],
          ["proc", { action: "exec", command: ["ls"] }],
        ];
        if (user === "Again." && answers > first.length + 1) read.push(text);
        const turn = [...first, undefined, ...second][answers];
        return turn ? { parts: [{ call: turn[0], input: turn[1] }] } : say("Done.");
      },
    );
    expect(await settled()).toMatchObject({ outcome: "done" });
    const { workspace_id } = await get<{ workspace_id: string }>("session.message", {
      session_id,
      message: "Again.",
    });
    expect(await settled()).toMatchObject({ outcome: "done" });
    expect(read).toEqual([
      expect.stringContaining("new.txt"),
      expect.stringContaining("The build needs node 24."),
      expect.stringContaining("99999"),
      expect.not.stringContaining("new.txt"),
    ]);
    const workspaces = join(folder, "hub", "projects", project_id, "workspaces");
    expect(globSync("**", { cwd: workspaces }).filter((path) => path.includes(workspace_id))).not.toEqual([]);
    await get("workspace.delete", { workspace_id, force: true });
    expect(globSync("**", { cwd: workspaces }).filter((path) => path.includes(workspace_id))).toEqual([]);
  });

  test("names a limit that was hit in its events, and goes on", async () => {
    const { settled, until } = await openSession(
      [run("head -c 900000000 /dev/zero | tail | wc -c"), run("sleep 1"), say("Done.")],
      { memory_mb: 512 },
    );
    await until((all) =>
      expect(all.find(({ name }) => name === "container_limit")?.data).toMatchObject({
        limit: "memory_mb",
        message: expect.stringContaining("512 MB"),
      }),
    );
    expect(await settled()).toMatchObject({ outcome: "done" });
  });

  test("gets NO_SPACE while the project's disk is full, and goes on when a command has deleted files", async () => {
    const fill = "for i in 1 2 3; do head -c 40000000 /dev/zero > /workspaces/full-$i; done; sleep 300";
    const { settled, events, get, project_id, session_id, log } = await openSession(
      [run(fill), run("echo not-yet"), say("It is full."), run("echo went-on"), say("Done.")],
      { disk_mb: 100 },
    );
    expect(await settled()).toMatchObject({ outcome: "done" });
    const full = (await events()).filter(({ type }) => type === "tool_ended").slice(1);
    expect(JSON.stringify(full)).toMatch(/NO_SPACE: disk full: the project uses \d+ MB of its 100 MB/);
    const freed = await get("container.exec", { project_id, command: "sleep 4; rm /workspaces/full-*" });
    expect(freed, log.join("\n")).toMatchObject({ exit_code: 0 });
    await get("session.message", { session_id, message: "Again." });
    expect(await settled()).toMatchObject({ outcome: "done" });
    expect(JSON.stringify(await events())).toContain("went-on\\n");
  });

  test("says that its container ended, and goes on in the same container started again", async () => {
    const { settled, until, hub, get, project_id, events } = await openSession([
      run("echo before > /workspaces/kept; echo began; sleep 300"),
      run("cat /workspaces/kept; echo after-the-end"),
      say("Done."),
    ]);
    await until((all) => expect(all.some(({ type }) => type === "tool_began")).toBe(true));
    const before = await vi.waitFor(
      async () => {
        const found = await hub.containers.find(project_id);
        if (!found) throw new Error("no container yet");
        const kept = await get("container.exec", { project_id, command: "cat /workspaces/kept" });
        expect(kept).toMatchObject({ stdout: "before\n" });
        return found;
      },
      { timeout: 60_000, interval: 100 },
    );
    await opened.engine.stop(before.id, 0);
    await until((all) =>
      expect(JSON.stringify(all.filter(({ name }) => name === "container_ended"))).toContain(
        "the container has stopped",
      ),
    );
    expect(await settled()).toMatchObject({ outcome: "done" });
    expect(JSON.stringify(await events())).toContain("after-the-end");
    expect((await hub.containers.find(project_id))?.id).toBe(before.id);
  });

  test("an idle project has no processes once its container has stopped", async () => {
    const { settled, hub, project_id, clock } = await openSession(
      [run("until test -e /workspaces/go; do sleep 0.1; done"), say("Done.")],
      { idle_stop_minutes: 10 },
    );
    const processes = async () => {
      const id = (await hub.containers.find(project_id))?.id;
      return [project_id, ...(id === undefined ? [] : [id])].flatMap(processesWith);
    };
    await vi.waitFor(async () => expect(await processes()).not.toEqual([]), WAIT);
    writeFileSync(join(hub.workspaces.folderOf(project_id), "go"), "");
    expect(await settled()).toMatchObject({ outcome: "done" });
    // The connection to the container ends after the session, so the idle time may begin later.
    await vi.waitFor(async () => {
      await clock.pass(20 * MINUTE_MS);
      expect((await hub.containers.find(project_id))?.state).toBe("stopped");
    }, WAIT);
    await vi.waitFor(async () => expect(await processes()).toEqual([]), WAIT);
  });
}

const MINUTE_MS = 60_000;
const WAIT = { timeout: 40_000, interval: 100 };
