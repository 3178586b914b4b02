import { setTimeout as delay } from "node:timers/promises";
import { createQuestions } from "@octant/core";
import { expect, test } from "vitest";
import { Agent } from "./agent.ts";
import { ApiError } from "./api-error.ts";
import type { AgentEvent } from "./events.ts";
import type { Limits } from "./limits.ts";
import { type AssistantPart, textOf } from "./messages.ts";
import { Session } from "./session.ts";
import { call, createScriptedClient, done, TEST_MODEL, type Turn, text } from "./testing/scripted-client.ts";
import { createTestTools, type TestTool } from "./testing/tools.ts";
import type { ToolExecutor } from "./tool-executor.ts";
import { NO_USAGE } from "./usage.ts";

function setUp(
  turns: readonly Turn[],
  tools: Record<string, TestTool> | ToolExecutor = {},
  limits: Limits = {},
) {
  const client = createScriptedClient(turns);
  const session = new Session({ id: "ses_1" });
  const events: AgentEvent[] = [];
  session.subscribe((event) => events.push(event));
  const executor =
    "definitions" in tools && "outline" in tools ? (tools as ToolExecutor) : createTestTools({ ...tools });
  const agent = new Agent({ client, tools: executor, session, system: "Be brief.", limits: () => limits });
  const results = () =>
    events.flatMap((event) =>
      event.type === "tool_ended" ? [{ ...event, text: textOf(event.content) }] : [],
    );
  return { agent, client, events, results, types: () => events.map(({ type }) => type) };
}

test("an answer without calls ends the run, and every step of it is an event", async () => {
  const { agent, types } = setUp([[text("Hello.")]]);
  const end = await agent.send("Hi");
  expect(end).toMatchObject({ reason: "done", turns: 1, usage: { input_tokens: 100, output_tokens: 10 } });
  expect(end.cost).toBeCloseTo(0.0002);
  expect(types()).toEqual(["session_began", "user", "title", "message", "end"]);
});

test("a call is run and its result is returned to the model", async () => {
  const { agent, client, types } = setUp([[call("read", { of: "a" })], [text("It says A.")]], {
    read: ({ of }) => `content of ${of}`,
  });
  expect(await agent.send("Read a")).toMatchObject({ reason: "done", turns: 2 });
  expect(types()).toEqual([
    ...["session_began", "user", "title", "message"],
    ...["tool_began", "tool_ended", "message", "end"],
  ]);
  const [, second] = client.requests;
  expect(second?.messages.at(-1)).toMatchObject({
    role: "tool",
    results: [{ name: "read", is_error: false, content: [{ type: "text", text: "content of a" }] }],
  });
});

test.each(["text_delta", "thinking_delta", "call_delta"] as const)(
  "a character that is split between two of %s arrives whole, at every place of the split",
  async (type) => {
    const whole = "e 日本 🎉 ends";
    for (const at of [...whole].keys().map((index) => [...whole].slice(0, index).join("").length + 1)) {
      const parts = [whole.slice(0, at), whole.slice(at)];
      const { agent, events } = setUp([
        async function* () {
          // The other call comes between the halves.
          for (const part of parts) {
            yield type === "call_delta" ? { type, call_id: "call_a", text: part } : { type, text: part };
            yield { type: "call_delta", call_id: "call_b", text: "x" };
          }
          yield done([text("Done.")]);
        },
      ]);
      await agent.send("Hi");
      const deltas = events.flatMap((event) =>
        event.type === type && !(event.type === "call_delta" && event.call_id === "call_b")
          ? [event.text]
          : [],
      );
      expect(deltas.join("")).toBe(whole);
      for (const delta of deltas) expect(delta.isWellFormed()).toBe(true);
    }
  },
);

test("a reading call runs while its beginning is stored, a writing one when it is", async () => {
  const order: string[] = [];
  const turn = Promise.withResolvers<void>();
  const store = {
    async append({ type }: { readonly type: string }) {
      if (type === "tool_began") await turn.promise;
      order.push(type);
    },
    close: async () => {},
  };
  const run = (of: string, tool: TestTool) => async () => {
    const session = new Session({ id: "ses_1", store });
    const client = createScriptedClient([[call(of, {})], [text("ok")]]);
    const agent = new Agent({ client, tools: createTestTools({ [of]: tool }), session, limits: () => ({}) });
    session.subscribe(({ type }) => type === "tool_progress" && order.push("heard of progress"));
    await agent.send("go");
  };
  const note = (text: string) => order.push(text);
  const reads = run("read", (_input, { onProgress }) => {
    onProgress?.({ progress: 1 });
    turn.resolve(void note("read"));
    return "";
  });
  await reads();
  await run("write", () => String(note("wrote")))();
  const ofCalls = order.filter((one) => /tool|read|wrote|progress/.test(one));
  expect(ofCalls).toEqual([
    "read",
    "tool_began",
    "heard of progress",
    "tool_ended",
    "tool_began",
    "wrote",
    "tool_ended",
  ]);
});

test("reading calls run in parallel, writing ones alone and in order", async () => {
  const log: string[] = [];
  let readers = 0;
  let most = 0;
  const read: TestTool = async ({ of }) => {
    most = Math.max(most, ++readers);
    log.push(`read ${of}`);
    await delay(5);
    readers -= 1;
    return "";
  };
  const write: TestTool = async ({ of }) => {
    expect(readers).toBe(0);
    log.push(`begin ${of}`);
    await delay(5);
    log.push(`end ${of}`);
    return "";
  };
  const calls = [
    ...[call("read", { of: 1 }), call("read", { of: 2 }), call("write", { of: 3 })],
    ...[call("write", { of: 4 }), call("read", { of: 5 })],
  ];
  const { agent, client } = setUp([calls, [text("ok")]], { read, write });
  await agent.send("go");
  expect(log).toEqual(["read 1", "read 2", "begin 3", "end 3", "begin 4", "end 4", "read 5"]);
  expect(most).toBe(2);
  const last = client.requests[1]?.messages.at(-1);
  expect(last?.role === "tool" && last.results.map(({ call_id }) => call_id)).toEqual(
    calls.map((part) => part.type === "tool_call" && part.id),
  );
});

test("invalid arguments and unknown tools are reported to the model, and nothing runs", async () => {
  const { agent, results } = setUp(
    [[call("reed"), call("read", '{"of": '), call("read", "[1]")], [text("ok")]],
    {
      read: () => {
        throw new Error("ran");
      },
    },
  );
  await agent.send("go");
  expect(results().map(({ code }) => code)).toEqual(["UNKNOWN_TOOL", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]);
  expect(results()[0]?.text).toContain("did you mean 'read'? tools: read".replace("? ", "?; "));
  expect(results()[1]?.text).toContain("not valid JSON");
});

test("a result that would fill the conversation is cut, and the model can see that", async () => {
  const { agent, results } = setUp([[call("read")], [text("ok")]], { read: () => "x".repeat(10_000_000) });
  await agent.send("go");
  expect(results()[0]?.text.length).toBeLessThan(201_000);
  expect(results()[0]?.text).toContain("9800000 more characters were left out");
});

test("calls with duplicate ids get unique ones, within an answer and across answers", async () => {
  const same = { ...call("read"), id: "call_0" };
  const { agent, client } = setUp([[same, same], [same], [text("ok")]], { read: () => "A" });
  await agent.send("go");
  const ids = client.requests[2]?.messages.flatMap((message) =>
    message.role === "tool" ? message.results.map(({ call_id }) => call_id) : [],
  );
  expect(ids).toHaveLength(3);
  expect(new Set(ids).size).toBe(3);
  expect(ids?.[0]).toBe("call_0");
});

test("a message queued during a run is delivered at the next step", async () => {
  const { agent, client } = setUp([[call("read")], [text("ok")]], {
    read: () => {
      agent.queue("And mind the tests.");
      return "read";
    },
  });
  await agent.send("go");
  expect(client.requests[1]?.messages.slice(-2)).toMatchObject([
    { role: "tool" },
    { role: "user", origin: "person", content: [{ text: "And mind the tests." }] },
  ]);
  expect(agent.queued).toEqual([]);
});

test("a message queued during the last answer is answered too", async () => {
  const { agent, client } = setUp([
    async function* () {
      agent.queue("One more thing.");
      yield done([text("Done.")]);
    },
    [text("That too.")],
  ]);
  expect(await agent.send("go")).toMatchObject({ reason: "done", turns: 2 });
  expect(client.requests).toHaveLength(2);
});

test("a message queued while the end of a run is stored is answered too, and a refusal gives one back", async () => {
  const { agent, client, events } = setUp([
    [text("Done.")],
    async function* () {
      agent.queue("And this?");
      yield { ...done([text("No.")]), stop: "refusal" as const };
    },
  ]);
  const stop = agent.subscribe(({ type }) => {
    if (type !== "end") return;
    stop();
    agent.queue("One more thing.");
  });
  expect(await agent.send("go")).toMatchObject({ reason: "refused", turns: 2 });
  expect(client.requests[1]?.messages.at(-1)).toMatchObject({ content: [{ text: "One more thing." }] });
  expect(agent.queued).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: "unsent", messages: [[{ text: "And this?" }]] });
});

test("a stop gives back what was queued for the run, and keeps what waits for the next message", async () => {
  const began = Promise.withResolvers<void>();
  const { agent, client, events } = setUp([[call("write")], [text("ok")]], {
    write: () => {
      began.resolve();
      return new Promise(() => {});
    },
  });
  agent.queue("The mode is docs.");
  const sent = agent.send("go");
  await began.promise;
  const first = agent.queue("Delete the tests.");
  agent.queue("And the docs.");
  expect(agent.unqueue(first)).toBe(true);
  await agent.cancel();
  await sent;
  expect(events.filter(({ type }) => type === "unsent")).toMatchObject([
    { messages: [[{ text: "And the docs." }]] },
  ]);
  await agent.send("go on");
  expect(JSON.stringify(client.requests.at(-1)?.messages)).not.toMatch(/Delete|And the docs/);
  expect(JSON.stringify(client.requests.at(-1)?.messages)).toContain("The mode is docs.");
});

test("cancelling ends the run although a tool ignores it, and every call has its result", async () => {
  const began = Promise.withResolvers<void>();
  const { agent, results, events } = setUp([[call("write", { of: 1 }), call("write", { of: 2 })]], {
    write: () => {
      began.resolve();
      return new Promise(() => {});
    },
  });
  const running = agent.send("go");
  await began.promise;
  await agent.cancel();
  expect(await running).toMatchObject({ reason: "cancelled" });
  expect(results().map(({ code }) => code)).toEqual(["CANCELLED", "CANCELLED"]);
  expect(results()[1]?.text).toContain("was not started");
  expect(events.at(-1)).toMatchObject({ type: "end", reason: "cancelled" });
  expect(agent.session.conversation.messages.slice(-2).map(({ role }) => role)).toEqual(["tool", "user"]);
});

test.each([
  [{ max_turns: 2 }, "max_turns"],
  [{ max_tokens: 150 }, "max_tokens"],
  [{ max_cost: 0.0003 }, "max_cost"],
  [{ max_time_ms: 1 }, "max_time"],
] as const)("the limit %o ends the run with its name", async (limits, reason) => {
  let count = 0;
  const turns: Turn[] = Array.from({ length: 10 }, () => [call("read", { of: ++count })]);
  const { agent } = setUp(turns, { read: async ({ of }) => delay(2, `${of}`) }, limits);
  const end = await agent.send("go");
  expect(end.reason).toBe(reason);
  expect(end.message).toContain("limit");
  expect(agent.session.conversation.pendingCalls).toEqual([]);
});

test("a tool that exceeds the time of a run is stopped with it", async () => {
  const never = () => new Promise<string>(() => {});
  const { agent, results } = setUp([[call("read")], [text("late")]], { read: never }, { max_time_ms: 20 });
  expect(await agent.send("go")).toMatchObject({
    reason: "max_time",
    message: "the limit of 0.02 s is reached",
  });
  expect(results()).toMatchObject([{ code: "CANCELLED", text: expect.stringContaining("was stopped") }]);
});

test("a repeated call with the same result is first reported and then ends the run", async () => {
  const { agent, client } = setUp(
    Array.from({ length: 10 }, () => [call("read", { of: "a" })]),
    { read: () => "the same" },
  );
  expect(await agent.send("go")).toMatchObject({ reason: "repeated_calls", turns: 6 });
  const told = client.requests[3]?.messages.at(-1);
  expect(told?.role === "tool" && textOf(told.results[0]?.content ?? [])).toContain("exact result 3 times");
});

test("a repeated call with different results is not a loop", async () => {
  let count = 0;
  const { agent } = setUp([...Array.from({ length: 9 }, () => [call("read")]), [text("ok")]], {
    read: () => `result ${++count}`,
  });
  expect(await agent.send("go")).toMatchObject({ reason: "done", turns: 10 });
});

test("the questions of a call go to the front end, and both question and answer are events", async () => {
  const client = createScriptedClient([[call("write")], [text("ok")]]);
  const session = new Session({ id: "ses_1" });
  const events: AgentEvent[] = [];
  session.subscribe((event) => events.push(event));
  let thought = 0;
  const tools = createTestTools({
    write: async (input, { ask, signal }) => {
      const action = "fs.write";
      const about = { summary: "", reason: "no rule", tier: "user", risk: [] };
      const { answer } = await createQuestions().ask(
        { kind: "permission", action, input, ...about },
        { action, caller: "ses_1", front: ask, signal },
      );
      return answer;
    },
  });
  const agent = new Agent({
    client,
    session,
    tools,
    ask: async () => {
      const since = performance.now();
      await delay(20);
      thought = performance.now() - since;
      return { answer: "deny", reason: "not now" };
    },
  });
  const since = performance.now();
  await agent.send("go");
  const all = performance.now() - since;
  // The time in which the person thinks is not that of the call.
  const ended = events.find((event) => event.type === "tool_ended");
  expect((ended?.duration_ms ?? all) + thought).toBeLessThanOrEqual(all + 1);
  const asked = events.find(({ type }) => type === "permission_asked");
  expect(asked).toMatchObject({ action: "fs.write", reason: "no rule" });
  expect(events.find(({ type }) => type === "permission_answered")).toMatchObject({
    answer: "deny",
    reason: "not now",
  });
});

test("a failed request ends the run with instructions, and the next message continues", async () => {
  const { agent } = setUp([
    () => {
      throw new ApiError("auth", "the key was refused; octant login anthropic sets another");
    },
    [text("Back again.")],
  ]);
  expect(await agent.send("go")).toMatchObject({
    reason: "failed",
    message: expect.stringContaining("octant login"),
  });
  expect(await agent.send("go on")).toMatchObject({ reason: "done" });
});

test("new diagnostics of edited files are added to the next request", async () => {
  const tools = createTestTools({
    write: () => ({ content: [], is_error: false, facts: { changed: [{ path: "a.ts", hash: "sha256:1" }] } }),
  });
  const { agent, client } = setUp([[call("write")], [text("ok")]], {
    ...tools,
    afterEdits: async (changed: readonly unknown[]) => `a.ts:1: broken (${changed.length})`,
  });
  await agent.send("go");
  expect(client.requests[1]?.messages.at(-1)).toMatchObject({
    role: "user",
    origin: "context",
    content: [{ text: "a.ts:1: broken (1)" }],
  });
});

test("a killed run continues: open calls are INTERRUPTED, and none of them runs again", async () => {
  const first = setUp([[call("write", { of: 1 }), call("write", { of: 2 })]], {
    write: () => new Promise(() => {}),
  });
  const began = new Promise<void>((resolve) =>
    first.agent.subscribe((event) => event.type === "tool_began" && resolve()),
  );
  void first.agent.send("go");
  await began;
  const kept = first.events.filter((event) => !("text" in event)).map((event) => structuredClone(event));

  const client = createScriptedClient([[text("I see.")]]);
  // Up to here only stored events were published.
  const session = new Session({
    id: "ses_1",
    events: kept as ConstructorParameters<typeof Session>[0]["events"],
  });
  const agent = new Agent({ client, session, tools: createTestTools({ write: () => "ran again" }) });
  expect(await agent.proceed()).toMatchObject({ reason: "done" });
  const results = client.requests[0]?.messages.at(-1);
  expect(results?.role === "tool" && results.results.map(({ content }) => textOf(content))).toEqual([
    expect.stringMatching(/^INTERRUPTED: write was running/),
    expect.stringMatching(/^INTERRUPTED: write was not started/),
  ]);
  await first.agent.cancel();
});

test("requests share their prefix: system, tools and earlier messages never change", async () => {
  let count = 0;
  const { agent, client } = setUp(
    [[call("read")], [call("read"), call("read")], [text("a")], [call("read")], [text("b")]],
    { read: () => `result ${++count}` },
  );
  await agent.send("one");
  await agent.send("two");
  for (const [at, { system, tools, messages }] of client.requests.entries()) {
    const next = client.requests[at + 1];
    if (!next) break;
    expect([next.system, next.tools]).toEqual([system, tools]);
    expect(JSON.stringify(next.messages)).toContain(JSON.stringify(messages).slice(0, -1));
  }
});

test("a model that is chosen during a run answers from the next request on", async () => {
  const other = createScriptedClient([[text("from the other one")]]);
  const { agent, client, events } = setUp([[call("read")]], {
    async read() {
      await agent.useModel(other);
      return "A";
    },
  });
  expect(await agent.send("go")).toMatchObject({ reason: "done" });
  expect([client.requests.length, other.requests.length]).toEqual([1, 1]);
  expect(events.map(({ type }) => type)).toContain("model_changed");
});

test("after Esc the part of the answer that was shown and the interruption are in the next request", async () => {
  const { agent, client, events } = setUp([
    async function* (_request, signal) {
      yield { type: "text_delta", text: "I am " };
      yield { type: "text_delta", text: "about to" };
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
    [text("Fine.")],
  ]);
  const running = agent.send("go");
  await expect.poll(() => events.map(({ type }) => type)).toContain("text_delta");
  await agent.cancel();
  expect(await running).toMatchObject({ reason: "cancelled" });
  expect(events).toContainEqual(expect.objectContaining({ type: "stopped", text: "I am about to" }));
  await agent.send("stop");
  const shown = client.requests[1]?.messages.map((message) =>
    message.role === "tool" ? message.role : `${message.role}: ${textOf(message.content)}`,
  );
  expect(shown).toEqual([
    "user: go",
    "assistant: I am about to",
    "user: [The run was interrupted here.]",
    "user: stop",
  ]);
});

const cut = (parts: readonly AssistantPart[], stop: "output_limit" | "refusal"): Turn =>
  async function* () {
    yield { ...done(parts), stop };
  };

test.each(["", "{", '{"path": "a', "{}"])(
  "a call of an answer that was cut with the arguments %j does not run, and the model may repeat it",
  async (given) => {
    const ran: unknown[] = [];
    const { agent, results } = setUp(
      [
        cut([call("read", {}), call("write", given)], "output_limit"),
        [call("write", { whole: 1 })],
        [text("ok")],
      ],
      { read: (input) => `${ran.push(input)}`, write: (input) => `${ran.push(input)}` },
    );
    expect(await agent.send("go")).toMatchObject({ reason: "done" });
    expect(ran).toEqual([{ whole: 1 }]);
    expect(results()[1]?.text).toMatch(/^CANCELLED: write was not run: the answer reached the output limit/);
  },
);

test("a model whose answers are cut again and again ends the run", async () => {
  const turn = () => cut([call("write", { n: Math.random() })], "output_limit");
  const { agent } = setUp([turn(), turn(), turn(), [text("never")]], { write: () => "" });
  expect(await agent.send("go")).toMatchObject({ reason: "output_limit", turns: 3 });
});

test("a call in a refused answer does not run, and the next message continues", async () => {
  const ran: unknown[] = [];
  const { agent, results } = setUp([cut([call("write", {})], "refusal"), [text("ok")]], {
    write: () => `${ran.push(1)}`,
  });
  expect(await agent.send("go")).toMatchObject({ reason: "refused" });
  expect([ran, results()[0]?.text]).toEqual([[], "CANCELLED: write was not run: the answer was refused"]);
  expect(await agent.send("another way")).toMatchObject({ reason: "done" });
});

test("a limit of cost ends the run before a model without a price is asked", async () => {
  const client = createScriptedClient([[text("never")]], { ...TEST_MODEL, id: "local-1", price: null });
  const agent = new Agent({ client, tools: createTestTools({}), session: new Session({ id: "ses_1" }) });
  expect(await agent.send("go", { limits: { max_cost: 1 } })).toMatchObject({
    reason: "max_cost",
    message: expect.stringMatching(
      /price of local-1 is unknown; give its price in the settings \(models\.local-1/,
    ),
  });
  expect(client.requests).toHaveLength(0);
});

test("a limit of cost ends the run when a sub-agent or a tool spends an unknown amount", async () => {
  const { agent } = setUp([[call("ask")], [text("never")]], {
    async ask() {
      const usage = { ...NO_USAGE, output_tokens: 5 };
      await agent.session.append({ type: "spent", by: "llm", turns: 0, usage, cost: null });
      return "";
    },
  });
  expect(await agent.send("go", { limits: { max_cost: 1 } })).toMatchObject({
    reason: "max_cost",
    message: expect.stringContaining("a sub-agent or a tool used a model whose price is unknown"),
  });
});
