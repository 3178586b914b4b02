import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AgentEvent, LogSessionStore, type StampedEvent } from "@octant/agent";
import { type CreateAgentOptions, createAgent, type HookCall, type RunEvent } from "@octant/app";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { accountAt } from "./scripted-account.ts";

const HOSTILE_SERVER = join(import.meta.dirname, "../packages/mcp-client/testing/hostile-server.mjs");

const WRITE = { action: "write", uri: "new.txt", content: "new\n" };

/** Writes a file, then answers. */
const WRITES: Script = ({ answers }) =>
  answers === 0 ? { parts: [{ call: "fs", input: WRITE }] } : { parts: [{ text: "done" }] };

/** Runs prompts with an agent that may do everything, and a scripted model. */
async function run(options: CreateAgentOptions, prompts: readonly string[] = ["go"], script = WRITES) {
  using project = createFixtureProject();
  await using provider = await createScriptedProvider(script);
  await using agent = createAgent({
    cwd: project.root,
    env: { ...project.env, ...accountAt(provider) },
    provider: "anthropic",
    model: "some-model",
    allow: [{ tool_pattern: "*", mode: "allow" }],
    ...options,
  });
  const runs: RunEvent[][] = [];
  for (const prompt of prompts) runs.push(await Array.fromAsync(agent.run(prompt)));
  const results = runs.map((events) => events.at(-1));
  const isWritten = existsSync(join(project.root, "new.txt"));
  return { events: runs.flat(), results, isWritten, requests: provider.requests.map(({ raw }) => raw) };
}

test("beforeCall sees each call, and without a result of its own the call runs", async () => {
  const seen: Pick<HookCall, "name" | "action" | "input">[] = [];
  const { isWritten, results } = await run({
    hooks: {
      beforeCall({ name, action, input }) {
        seen.push({ name, action, input });
        return undefined;
      },
    },
  });
  expect(seen).toEqual([{ name: "fs", action: "fs.write", input: WRITE }]);
  expect(isWritten).toBe(true);
  expect(results).toMatchObject([
    { type: "result", reason: "done", changed_files: [expect.stringMatching(/new\.txt$/)] },
  ]);
});

test("the model reads what beforeCall returns; the call does not run, and afterCall is not called", async () => {
  const after: string[] = [];
  const { isWritten, events, requests } = await run({
    hooks: {
      beforeCall: async () => ({ content: [{ type: "text", text: "FROZEN until Monday" }], is_error: true }),
      afterCall({ name }) {
        after.push(name);
        return undefined;
      },
    },
  });
  expect(isWritten).toBe(false);
  expect(after).toEqual([]);
  expect(events.find(({ type }) => type === "tool_ended")).toMatchObject({ is_error: true });
  expect(requests[1]).toContain("FROZEN until Monday");
});

test("the model reads what afterCall returns instead of the result", async () => {
  const { isWritten, requests } = await run({
    hooks: {
      afterCall: (_call, result) => ({ ...result, content: [{ type: "text", text: "REPLACED" }] }),
    },
  });
  expect(isWritten).toBe(true);
  expect(requests[1]).toContain("REPLACED");
});

test("a hook that throws fails its call, which does not run", async () => {
  const { isWritten, events, results } = await run({
    hooks: {
      beforeCall() {
        throw new Error("a bug in the hook");
      },
    },
  });
  expect(isWritten).toBe(false);
  expect(events.find(({ type }) => type === "tool_ended")).toMatchObject({ is_error: true });
  expect(results).toMatchObject([{ type: "result", reason: "done" }]);
});

test("a hook that throws after its call says that the call has run", async () => {
  const { isWritten, requests } = await run({
    hooks: {
      afterCall() {
        throw new Error("a bug in the hook");
      },
    },
  });
  expect(isWritten).toBe(true);
  expect(requests[1]).toContain("the call has run, and the hook after it failed: a bug in the hook");
});

test.each(["canUseTool", "ask"])(
  "a %s that throws refuses the call, and says whose bug it is",
  async (name) => {
    const fail = () => {
      throw new Error("a bug in the program");
    };
    const { isWritten, events, results, requests } = await run({ allow: [], [name]: fail });
    expect(isWritten).toBe(false);
    expect(events.find(({ type }) => type === "tool_ended")).toMatchObject({ code: "APPROVAL_REQUIRED" });
    expect(requests[1]).toContain("a bug in the program");
    expect(results).toMatchObject([{ reason: "done", unapproved: ["fs.write"] }]);
  },
);

test("canUseTool knows the call of the model that it decides about", async () => {
  const asked: (string | undefined)[] = [];
  const { isWritten, events } = await run({
    allow: [],
    canUseTool({ action, call_id }) {
      asked.push(`${action} ${call_id}`);
      return { allow: "once" };
    },
  });
  expect(isWritten).toBe(true);
  const began = events.find(({ type }) => type === "tool_began");
  expect(asked).toEqual([`fs.write ${began?.type === "tool_began" && began.call_id}`]);
});

test("a deny that interrupts ends the run: the call is refused, and the model is not asked again", async () => {
  const { isWritten, events, results, requests } = await run({
    allow: [],
    canUseTool: () => ({ deny: "not on Fridays", interrupt: true }),
  });
  expect(isWritten).toBe(false);
  expect(events.find(({ type }) => type === "tool_ended")).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(requests).toHaveLength(1);
  expect(results).toMatchObject([{ type: "result", reason: "cancelled", turns: 1 }]);
});

test("an agent that is closed has released its session", async () => {
  using project = createFixtureProject();
  await using provider = await createScriptedProvider(WRITES);
  const options = { cwd: project.root, env: { ...project.env, ...accountAt(provider) } };
  const agent = createAgent(options);
  await Array.fromAsync(agent.run("go"));
  const { id } = (await agent.open()).agent.session;
  await agent.close();
  await using next = createAgent({ ...options, from: { how: "resume", id } });
  expect((await next.open()).agent.session.id).toBe(id);
});

test("stopWhen that returns true for a message ends the run before the calls of that message", async () => {
  const { isWritten, results, requests } = await run({ stopWhen: ({ type }) => type === "message" });
  expect(isWritten).toBe(false);
  expect(requests).toHaveLength(1);
  expect(results).toMatchObject([{ type: "result", reason: "cancelled", message: "the run was stopped" }]);
});

test("stopWhen that returns true for a result ends the run: the model is not asked again", async () => {
  const seen: AgentEvent["type"][] = [];
  const { isWritten, results, requests } = await run({
    stopWhen({ type }) {
      seen.push(type);
      return type === "tool_ended";
    },
  });
  expect(isWritten).toBe(true);
  expect(requests).toHaveLength(1);
  expect(seen.at(-1)).toBe("end");
  expect(results).toMatchObject([{ type: "result", reason: "cancelled", turns: 1 }]);
});

test("a session that stopWhen stopped goes on with the next message", async () => {
  let stops = 0;
  const { results, requests } = await run(
    { stopWhen: ({ type }) => type === "tool_ended" && stops++ === 0 },
    ["first", "second"],
  );
  expect(results).toMatchObject([{ reason: "cancelled" }, { reason: "done", text: "done" }]);
  expect(requests).toHaveLength(2);
  expect(requests[1]).toContain("first");
});

test("a run that cannot be stored ends with a result that says why", async () => {
  using project = createFixtureProject();
  await using provider = await createScriptedProvider(WRITES);
  await using agent = createAgent({
    cwd: project.root,
    env: { ...project.env, ...accountAt(provider) },
    provider: "anthropic",
    model: "some-model",
  });
  const { agent: opened } = await agent.open();
  await opened.session.close();
  const events = await Array.fromAsync(agent.run("go"));
  expect(events).toMatchObject([{ type: "result", reason: "failed", message: expect.stringMatching(/./) }]);
});

test("a model that asks and plans as it learned elsewhere gets the person's answers, and the mode they chose", async () => {
  const script: Script = ({ answers, results }) => {
    if (answers === 0) {
      const options = [{ label: "SQLite" }, { label: "Redis" }];
      const questions = [{ question: "Which store?", header: "Store", options, multiSelect: false }];
      return { parts: [{ call: "AskUserQuestion", input: { questions } }] };
    }
    if (answers === 1) return { parts: [{ call: "ExitPlanMode", input: { plan: "1. Write it" } }] };
    if (answers === 2) return { parts: [{ call: "fs", input: WRITE }] };
    return { parts: [{ text: `done: ${results[0]?.text}` }] };
  };
  const shown: string[] = [];
  const { isWritten, requests } = await run(
    {
      mode: "plan",
      async ask(question) {
        if (question.kind !== "form") return undefined;
        shown.push(question.message);
        const [name = ""] = Object.keys(Object(question.schema?.properties));
        return { answer: "accept", content: { [name]: name === "mode" ? "edits" : "Redis" } };
      },
    },
    ["go"],
    script,
  );
  expect(shown).toEqual([
    expect.stringContaining("Which store?"),
    expect.stringMatching(/1\. Write it[\s\S]*carry out/),
  ]);
  expect(requests[1]).toContain("Redis");
  expect(requests[2]).toContain("the mode is edits now");
  expect(isWritten).toBe(true);
});

test("the first request offers the tools of the MCP servers, which are still starting when the run begins", async () => {
  const server = { command: process.execPath, args: [HOSTILE_SERVER, "good"] };
  const offered: (readonly string[])[] = [];
  const script: Script = ({ tools }) => {
    offered.push(tools);
    return { parts: [{ text: "done" }] };
  };
  await run({ servers: { able: server } }, ["go"], script);
  expect(offered[0]).toContain("mcp__able__echo");
});

/** Logs in memory, as a database of one's own would have them. */
function createMemoryStore() {
  const logs = new Map<string, StampedEvent[]>();
  return new LogSessionStore({
    ids: async () => [...logs.keys()],
    has: async (id) => logs.has(id),
    async *read(id) {
      yield* logs.get(id) ?? [];
    },
    open: async (id) => ({
      append: async (event) => void logs.set(id, [...(logs.get(id) ?? []), event]),
      close: async () => {},
    }),
    remove: async (id) => void logs.delete(id),
    summary: (_id, make) => make(),
  });
}

test("a session in a store of one's own continues in the next agent", async () => {
  const sessions = createMemoryStore();
  const script: Script = ({ answers }) => ({ parts: [{ text: `answer ${answers}` }] });
  await run({ sessions }, ["first"], script);
  const { results } = await run({ sessions, from: { how: "latest" } }, ["second"], script);
  expect(results).toMatchObject([{ reason: "done", text: "answer 1" }]);
  expect(await sessions.list()).toMatchObject([{ title: "first", turns: 2 }]);
});
