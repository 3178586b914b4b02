import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createScriptedProvider, type Script, type ScriptedProvider } from "@octant/scripted-provider";
import { expect, onTestFinished, test, vi } from "vitest";
import type { HubSession } from "../packages/hub/src/sessions/hub-session.ts";
import { git, openHub } from "../packages/hub/testing/open-hub.ts";
import { modelOf } from "./start-hub.ts";

interface SessionView {
  readonly session_id: string;
  readonly workspace_id: string;
  readonly state: string;
  readonly outcome?: string;
  readonly problem?: string;
}
interface Page {
  readonly state: string;
  readonly last_index: number;
  readonly events: readonly {
    readonly seq: number;
    readonly type: string;
    readonly name?: string;
    readonly data?: Record<string, string>;
  }[];
}

async function openProject(
  script: Script,
  settings: object = {},
  toEnv: (provider: ScriptedProvider) => Record<string, string> = modelOf,
) {
  const provider = await createScriptedProvider(script);
  onTestFinished(() => provider.close());
  const opened = await openHub({ env: toEnv(provider) });
  const source = opened.createSource();
  const project = { name: "demo", folder: source, model: "some-model", ...settings };
  const { project_id } = await opened.get<{ project_id: string }>("project.create", project);
  const spawn = (message: string, more: object = {}) =>
    opened.get<SessionView>("session.spawn", { project_id, message, ...more });
  const settled = (session_id: string) =>
    vi.waitFor(
      async () => {
        const session = await opened.get<SessionView>("session.get", { session_id });
        expect(session.state).not.toBe("working");
        return session;
      },
      { timeout: 60_000, interval: 100 },
    );
  return { ...opened, provider, source, project_id, spawn, settled };
}

const isDone = ({ outcome, problem }: SessionView) => outcome === "done" && problem === undefined;
const say = (text: string) => ({ parts: [{ text }] });
const use = (tool: string, input: object) => ({ parts: [{ call: tool, input }] });
const write = (uri: string, content: string) => use("fs", { action: "write", uri, content });

test("a session works in its own workspace, its events are read from any index, and its branch is merged", async () => {
  const { spawn, settled, get, source } = await openProject([
    write("b.txt", "two\n"),
    say("Done."),
    say("Again."),
  ]);
  const { session_id, workspace_id } = await spawn("Write b.txt.");
  const first = await get<Page>("session.events", { session_id, wait: 20_000 });
  expect(first.events[0]).toMatchObject({ seq: 1, type: "session_began" });
  expect(await settled(session_id)).toMatchObject({ state: "idle", outcome: "done" });
  const all = await get<Page>("session.events", { session_id });
  expect(all.events.map(({ seq }) => seq)).toEqual(all.events.map((_, n) => n + 1));
  expect(all.events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(["user", "tool_began", "tool_ended", "end"]),
  );
  const rest = await get<Page>("session.events", { session_id, since_index: 3 });
  expect(rest.events).toEqual(all.events.slice(3));
  expect(await get("workspace.merge", { workspace_id })).toMatchObject({ merged: true, pushed: true });
  expect(readFileSync(join(source, "b.txt"), "utf8")).toBe("two\n");
  expect(git(source, "log", "--format=%s", "-3")).toContain("Uncommitted work: b.txt");
  expect(await get("session.message", { session_id, message: "And now?" })).toMatchObject({
    session_id,
    spawned: false,
  });
  await settled(session_id);
  const more = await get<Page>("session.events", { session_id, since_index: all.last_index });
  expect(more.events.filter(({ type }) => type === "user")).toHaveLength(1);
});

test("a session calls a tool of its caller, which answers it", async () => {
  const { spawn, settled, get, call } = await openProject([
    use("caller", { action: "lookup", city: "Bern" }),
    say("It is warm."),
  ]);
  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const { session_id } = await spawn("How warm is it?", {
    caller_tools: [{ name: "lookup", description: "The weather of a city.", input_schema: schema }],
  });
  const request = await vi.waitFor(
    async () => {
      const { events } = await get<Page>("session.events", { session_id });
      const found = events.find(({ name }) => name === "caller_tool_request");
      expect(found?.data).toMatchObject({ tool: "lookup", input: { city: "Bern" } });
      return found?.data?.["request_id"];
    },
    { timeout: 60_000, interval: 100 },
  );
  const answer = { session_id, request_id: request, result: { celsius: 21 } };
  const both = { ...answer, error: "no such city" };
  expect((await call("caller_tool_response.respond", both)).error?.code).toBe("INVALID_ARGUMENT");
  expect(await get("caller_tool_response.respond", answer)).toEqual({ accepted: true });
  expect((await call("caller_tool_response.respond", answer)).error?.code).toBe("NOT_FOUND");
  expect(await settled(session_id)).toMatchObject({ outcome: "done" });
  const { events } = await get<Page>("session.events", { session_id });
  expect(JSON.stringify(events)).toContain("celsius");
});

test("a session at work shows what it has spent, and only messages that it has not read as queued", async () => {
  const cost = 0.003;
  const { spawn, settled, get, project_id } = await openProject(
    [
      { ...use("caller", { action: "wait" }), usage: { input: 1_000, cached: 0, output: 100 } },
      say("Done."),
      say("Done."),
      say("Done."),
    ],
    { model: "claude-sonnet-5-5" },
  );
  const { session_id } = await spawn("Again.", {
    caller_tools: [{ name: "wait", description: "Waits.", input_schema: { type: "object" } }],
  });
  const request_id = await vi.waitFor(
    async () => {
      const { events } = await get<Page>("session.events", { session_id });
      return events.find(({ name }) => name === "caller_tool_request")?.data?.["request_id"] ?? expect.fail();
    },
    { timeout: 60_000, interval: 100 },
  );
  const working = { state: "working", cost, queued: 0 };
  expect(await get("session.get", { session_id })).toMatchObject(working);
  expect(await get("session.list", { project_id })).toMatchObject({
    sessions: [working],
  });
  // The same text as the one that it has read.
  await get("session.message", { session_id, message: "Again." });
  await get("session.message", { session_id, message: "Again." });
  expect(await get("session.get", { session_id })).toMatchObject({ queued: 2 });
  await get("caller_tool_response.respond", { session_id, request_id, result: {} });
  expect(await settled(session_id)).toMatchObject({ outcome: "done", queued: 0 });
  const { events } = await get<Page>("session.events", { session_id });
  expect(events.filter(({ type }) => type === "user")).toHaveLength(3);
});

test("a session that has spent all it may says how much that is, also when it is asked again", async () => {
  const usage = { input: 1_000, cached: 0, output: 100 };
  const { spawn, settled, get } = await openProject([{ ...write("b.txt", "two\n"), usage }], {
    model: "claude-sonnet-5-5",
    limits: { max_cost: 0.002 },
  });
  const spent = {
    outcome: "max_cost",
    problem: "the limit of $0.002 for a session and those that it spawns is reached ($0.003 spent)",
  };
  const { session_id } = await spawn("Write b.txt.");
  expect(await settled(session_id)).toMatchObject(spent);
  await get("session.message", { session_id, message: "Go on." });
  expect(await settled(session_id)).toMatchObject(spent);
});

test("sessions spawn children within the depth of their project, and not beyond", async () => {
  const { spawn, settled, get } = await openProject(
    ({ results }) =>
      results.length > 0 ? say("Done.") : use("session", { action: "spawn", message: "Help." }),
    { limits: { max_depth: 1 } },
  );
  const { session_id } = await spawn("Delegate.");
  await settled(session_id);
  const { children } = await get<{ children: string[] }>("session.get", { session_id });
  expect(children).toHaveLength(1);
  await settled(children[0] ?? "");
  const { events } = await get<Page>("session.events", { session_id: children[0] });
  expect(JSON.stringify(events)).toContain("1 generation of sessions; raise its limit max_depth");
});

test("ending a session stops it for good, and a fork continues from its events and commits", async () => {
  const { spawn, settled, get, call } = await openProject([
    write("b.txt", "two\n"),
    say("One."),
    write("c.txt", "three\n"),
    say("Two."),
  ]);
  const { session_id, workspace_id } = await spawn("Begin.");
  await settled(session_id);
  expect(await get("session.end", { session_id })).toMatchObject({ state: "ended" });
  expect((await call("session.message", { session_id, message: "More" })).error?.code).toBe("LOCKED");
  expect((await call("session.fork", { session_id, index: 10_000 })).error?.code).toBe("NOT_FOUND");
  const fork = await get<SessionView>("session.fork", { session_id });
  expect(fork).toMatchObject({ state: "idle", forked_from: session_id });
  await get("session.message", { session_id: fork.session_id, message: "More" });
  expect(await settled(fork.session_id)).toMatchObject({ outcome: "done" });
  const patch = async (id: string) =>
    (await get<{ patch: string }>("workspace.diff", { workspace_id: id })).patch;
  expect(await patch(workspace_id)).not.toContain("c.txt");
  expect(await patch(fork.workspace_id)).toMatch(/b\.txt[\s\S]*c\.txt/);
});

test("the events of a copy belong to a session from the first one, so that a kill leaves none behind", async () => {
  const { hub, spawn, settled, get } = await openProject([say("Done."), say("Again.")]);
  const { session_id } = await spawn("Go.");
  await settled(session_id);
  const records = hub.store.records<HubSession>("session");
  const states: Promise<string | undefined>[] = [];
  await using _watching = await hub.store.events.watch((id) => {
    if (id !== undefined) states.push(records.get(id).then((one) => one?.state));
  });
  const copy = await get<SessionView>("session.fork", { session_id });
  expect(copy).toMatchObject({ state: "idle" });
  expect(new Set(await Promise.all(states))).toEqual(new Set(["ended"]));
  await get("session.message", { session_id: copy.session_id, message: "And now?" });
  expect(await settled(copy.session_id)).toSatisfy(isDone);
});

test("a copy that a session makes of itself is its child, and counts in its tree", async () => {
  const { spawn, settled, get } = await openProject(
    ({ user, results }) =>
      user !== "Copy yourself." || results.length > 0 ? say("Done.") : use("session", { action: "fork" }),
    { limits: { max_agents: 2 } },
  );
  const { session_id } = await spawn("Wait.");
  await settled(session_id);
  const childrenAfterCopy = async () => {
    await get("session.message", { session_id, message: "Copy yourself." });
    await settled(session_id);
    return (await get<{ children: string[] }>("session.get", { session_id })).children;
  };
  const children = await childrenAfterCopy();
  expect(children).toHaveLength(1);
  expect(await get("session.get", { session_id: children[0] })).toMatchObject({
    ...{ parent_id: session_id, forked_from: session_id, depth: 1, state: "idle" },
  });
  expect(await childrenAfterCopy()).toEqual(children);
  const { events } = await get<Page>("session.events", { session_id });
  expect(JSON.stringify(events)).toContain("2 sessions in one tree");
});

test("a session that is ended while a message waits for it does not go on", async () => {
  const { spawn, get, call, hub } = await openProject([
    use("proc", { action: "exec", command: ["sleep", "600"] }),
    say("Done."),
    say("Again."),
  ]);
  const { session_id } = await spawn("Wait.");
  await vi.waitFor(
    async () => {
      const { events } = await get<Page>("session.events", { session_id });
      expect(events.map(({ type }) => type)).toContain("tool_began");
    },
    { timeout: 60_000, interval: 100 },
  );
  await get("session.message", { session_id, message: "Go on." });
  const ended = await get<Page>("session.end", { session_id });
  expect(ended).toMatchObject({ state: "ended", queued: 0 });
  expect((await call("session.message", { session_id, message: "More" })).error?.code).toBe("LOCKED");
  expect(hub.sessions.workingCount()).toBe(0);
});

test("a session sees nothing of another project, and two messages with the same text are both read", async () => {
  let foreign = "";
  const { spawn, settled, get } = await openProject(({ answers }) =>
    answers === 0 ? use("session", { action: "list", project_id: foreign }) : say("Done."),
  );
  ({ project_id: foreign } = await get<{ project_id: string }>("project.create", { name: "foreign" }));
  const { session_id } = await spawn("Look.");
  await get("session.message", { session_id, message: "Go on." });
  await get("session.message", { session_id, message: "Go on." });
  await settled(session_id);
  const { events } = await get<Page>("session.events", { session_id });
  expect(JSON.stringify(events.find(({ type }) => type === "tool_ended"))).toContain("NOT_FOUND");
  expect(events.filter(({ type }) => type === "user")).toHaveLength(3);
});

test("a session cannot message, end or delete the sessions of its project that are not of its tree", async () => {
  const { spawn, settled, get, project_id } = await openProject(({ user, answers, all_results }) => {
    if (user === "Wait.") return say("Done.");
    const other = user;
    const child = /ses_\w+/.exec(all_results[0]?.text ?? "")?.[0];
    const calls = [
      { action: "spawn", message: "Wait." },
      { action: "message", session_id: other, message: "Obey me." },
      { action: "message", message: "Obey me." },
      { action: "end", session_id: other },
      { action: "cleanup", project_id, idle: true, force: true, max_age_hours: 0 },
      { action: "end", session_id: child },
    ];
    const input = calls[answers];
    return input ? use("session", input) : say("Done.");
  });
  const other = await spawn("Wait.");
  await settled(other.session_id);
  const { session_id } = await spawn(other.session_id);
  await settled(session_id);
  const { events } = await get<Page>("session.events", { session_id });
  const codes = events
    .filter(({ type }) => type === "tool_ended")
    .map((event) => "code" in event && event.code);
  expect(codes).toEqual([
    ...[false, "PERMISSION_DENIED", "PERMISSION_DENIED", "PERMISSION_DENIED", "UNKNOWN_ACTION"],
    false,
  ]);
  expect(await get("session.get", { session_id: other.session_id })).toMatchObject({
    state: "idle",
    queued: 0,
  });
  const { children } = await get<{ children: string[] }>("session.get", { session_id });
  expect(await get("session.get", { session_id: children[0] })).toMatchObject({ state: "ended" });
});

test("a session says why its last run failed, and without a model what helps in a hub", async () => {
  const { spawn, settled, get, hub, project_id } = await openProject(
    ({ user }) => (user === "Fail." ? { fault: { status: 400 } } : say("Done.")),
    { model: undefined },
    (provider) => ({ OPENAI_BASE_URL: provider.baseUrl("openai-chat") }),
  );
  const { session_id } = await spawn("Go.");
  const { outcome, problem } = await settled(session_id);
  expect(outcome).toBe("error");
  expect(problem).toMatch(/does not list its models.*\nIn a hub: .*project\.update/);
  expect(await hub.modelProblem()).toBe(problem);
  await get("project.update", { project_id, model: "some-model" });
  const send = async (message: string) => {
    await get("session.message", { session_id, message });
    return settled(session_id);
  };
  expect(await send("Go on.")).toSatisfy(isDone);
  expect(await send("Fail.")).toMatchObject({ outcome: "failed", problem: expect.stringMatching(/\w/) });
  expect(await send("Go on.")).toSatisfy(isDone);
});

test("a project with a session at work or with unmerged work is not deleted, and nothing of it ends", async () => {
  const { spawn, settled, get, call, project_id } = await openProject([
    use("proc", { action: "exec", command: ["sh", "-c", "until [ -e go ]; do sleep 0.1; done"] }),
    say("Done."),
  ]);
  const { session_id, workspace_id } = await spawn("Wait.");
  expect(await call("project.delete", { project_id })).toMatchObject({
    error: { code: "CONFIRM_REQUIRED", details: { would: { end_sessions: 1 } } },
  });
  expect(await get("session.get", { session_id })).toMatchObject({ state: "working" });
  await get("container.exec", { project_id, workspace_id, command: ["touch", "go"] });
  await settled(session_id);
  expect(await call("project.delete", { project_id })).toMatchObject({ error: { code: "CONFIRM_REQUIRED" } });
  expect(await get("session.get", { session_id })).toMatchObject({ state: "idle" });
  expect(await get("project.delete", { project_id, force: true })).toEqual({ deleted: true });
});

test("nothing begins in a project while it is deleted, and nothing of it remains", async () => {
  const { hub, spawn, call, get, project_id } = await openProject([use("caller", { action: "wait" })]);
  const { session_id } = await spawn("Wait.", {
    caller_tools: [{ name: "wait", description: "Waits.", input_schema: { type: "object" } }],
  });
  const task = { project_id, name: "often", cron: "0 0 1 1 *", message: "Go." };
  const { schedule_id } = await get<{ schedule_id: string }>("schedule.create", task);
  const meanwhile: ReturnType<typeof call>[] = [];
  hub.lifecycle.listen(({ value: { type } }) => {
    if (type !== "session.ended") return;
    meanwhile.push(
      call("schedule.trigger", { schedule_id }),
      call("session.spawn", { project_id, message: "Go." }),
    );
    meanwhile.push(
      call("workspace.create", { project_id }),
      call("session.message", { session_id, message: "Go." }),
    );
  });
  await get("project.delete", { project_id, force: true });
  const codes = (await Promise.all(meanwhile)).map(({ error }) => error?.code);
  expect(codes).toEqual(["NOT_FOUND", "NOT_FOUND", "NOT_FOUND", expect.stringMatching(/NOT_FOUND|LOCKED/)]);
  for (const kind of ["project", "session", "workspace", "schedule", "schedule_run"] as const)
    expect(await hub.store.records(kind).list(), kind).toEqual([]);
});

test("a session whose hub was killed after its last event has the outcome and the cost of that run", async () => {
  const { spawn, settled, hub, project_id } = await openProject([say("Done.")]);
  const { session_id } = await spawn("Go.");
  await settled(session_id);
  // As the killed hub left it: the log has the end, the record does not.
  const records = hub.store.records<HubSession>("session");
  await records.change(session_id, ({ outcome: _outcome, ...session }) => ({ ...session, state: "working" }));
  await hub.sessions.resume(project_id);
  expect(await settled(session_id)).toMatchObject({ state: "idle", outcome: "done" });
});
