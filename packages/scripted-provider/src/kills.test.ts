import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Agent,
  Conversation,
  createApiClient,
  FileSessionStore,
  keyCredentials,
  type RunEnded,
  type StampedEvent,
  type ToolExecutor,
} from "@octant/agent";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  API_NAMES,
  type ApiName,
  createScriptedProvider,
  type Script,
  type ScriptedProvider,
} from "./index.ts";

/** Everything that a model can do in a conversation, then a word at each further request. */
const WORK: Script = ({ answers, user, results }) => {
  if (user.includes("write a summary")) return { parts: [{ text: "Much was done." }] };
  if (user === "wait")
    return {
      parts: [{ text: "a part of an answer that ends before it is whole" }],
      fault: { stall_after: 6 },
    };
  if (user === "refuse") return { parts: [{ call: "write", input: { n: 1 } }], stop: "refusal" };
  if (user === "cut thinking") return { parts: [{ thinking: "so much to think" }], stop: "output_limit" };
  if (user === "say nothing") return { parts: [] };
  if (user !== "work") return { parts: [{ text: "Done." }] };
  if (answers === 0)
    return {
      parts: [
        { thinking: "I read two files." },
        { text: "I look." },
        { call: "read", input: { n: 1 } },
        { call: "read", input: { n: 2 } },
      ],
    };
  if (answers === 1) return { parts: [{ thinking: "Now I write." }, { call: "write", input: { n: 3 } }] };
  if (answers === 2)
    return {
      parts: [
        { call: "no.such tool", input: {} },
        { call: "read", input: '{"n": 4' },
      ],
    };
  if (answers === 3) return { parts: [{ call: "write", input: "" }], stop: "output_limit" };
  return { parts: [{ text: `${results.length} results.` }] };
};

const tools: ToolExecutor = {
  definitions: () =>
    ["read", "write"].map((name) => ({ name, description: name, input_schema: { type: "object" } })),
  outline: ({ name }) => ({ title: name, kind: "other", reads_only: name === "read", paths: [] }),
  execute: async ({ input }) => ({
    content: input["n"] === 2 ? [] : [{ type: "text", text: "half of a pair: \ud83d" }],
    is_error: input["n"] === 3,
  }),
};

/** Every event of a log waits for its disk, so it is one in memory where there is one. */
const MEMORY = "/dev/shm";
const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "octant-kills-"));
const logs = new Map<ApiName, readonly StampedEvent[]>();
let provider: ScriptedProvider;
let stores = 0;

const clientFor = (api: ApiName) =>
  createApiClient({
    provider: api,
    model: "some-model",
    base_url: provider.baseUrl(api),
    credentials: keyCredentials(api, "k"),
    thinking: "high",
    retry: { max_attempts: 1 },
  });

beforeAll(async () => {
  provider = await createScriptedProvider(WORK);
  for (const api of API_NAMES) logs.set(api, await record(api));
});
afterAll(async () => {
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The provider refuses nothing; its message says what it refuses. */
function expectAccepted({ reason, message }: RunEnded, where: string): void {
  expect(reason === "failed" ? message : "", where).toBe("");
}

/** The log of a session with all kinds of events. */
async function record(api: ApiName): Promise<readonly StampedEvent[]> {
  const store = new FileSessionStore({ folder: join(folder, `recorded-${api}`) });
  const session = await store.create();
  const agent = new Agent({ client: clientFor(api), tools, session, system: "Be brief." });
  for (const message of ["work", "say nothing", "cut thinking", "refuse"])
    expectAccepted(await agent.send(message), message);
  const shown = Promise.withResolvers<void>();
  agent.subscribe(({ type }) => type === "text_delta" && shown.resolve());
  const waiting = agent.send("wait");
  await shown.promise;
  await agent.cancel();
  await waiting;
  await agent.compact();
  await agent.send("and now");
  await agent.close();
  return Array.fromAsync(store.events(session.id));
}

/** A store with the log of a session that was killed when it had stored these events. */
function storeWith(events: readonly object[]) {
  const path = join(folder, `killed-${++stores}`);
  mkdirSync(path);
  const id = `ses_${"0".repeat(36)}`;
  const lines = events.map((event, at) => `${JSON.stringify({ ...event, seq: at + 1, session_id: id })}\n`);
  writeFileSync(join(path, `${id}.jsonl`), lines.join(""));
  return { id, store: new FileSessionStore({ folder: path }) };
}

/** The ways to go on after a kill; each has to end with an accepted request. */
const WAYS: Readonly<Record<string, (api: ApiName, events: readonly StampedEvent[]) => Promise<Agent>>> = {
  "continues with a message": async (api, events) => {
    const { id, store } = storeWith(events);
    return new Agent({ client: clientFor(api), tools, session: await store.open(id) });
  },
  "continues in a fork": async (api, events) => {
    const { id, store } = storeWith(events);
    return new Agent({ client: clientFor(api), tools, session: await store.fork(id) });
  },
  "is mended when an earlier Octant stored the message first": async (api, events) => {
    const message = { type: "user", origin: "person", content: [{ type: "text", text: "go on" }] };
    const { id, store } = storeWith([...events, { ...message, at: "" }]);
    return new Agent({ client: clientFor(api), tools, session: await store.open(id) });
  },
  "is compacted": async (api, events) => {
    const { id, store } = storeWith(events);
    const agent = new Agent({ client: clientFor(api), tools, session: await store.open(id) });
    await agent.compact();
    return agent;
  },
};

/** `npm run torture -- --only fuzz-runs` kills after each event; here each state of a conversation is met once. */
const IS_WHOLE = process.env["FUZZ_RUNS"] !== undefined;

/** How many events were stored before each kill. */
function killsOf(log: readonly StampedEvent[]): readonly number[] {
  const conversation = new Conversation();
  const seen = new Set<string>();
  return log.flatMap((event, at) => {
    conversation.apply(event);
    const { messages, pendingCalls } = conversation;
    const open = pendingCalls.map(({ call, began }) => [call.name, began]);
    const state = JSON.stringify([event.type, messages.at(-1)?.role, open]);
    if (seen.has(state) && !IS_WHOLE) return [];
    seen.add(state);
    return [at + 1];
  });
}

describe.each(API_NAMES)("over %s", (api) => {
  test.each(Object.entries(WAYS))("a session that is killed in any state %s", async (_way, goOn) => {
    const log = logs.get(api) ?? [];
    for (const kill of killsOf(log)) {
      const where = `after event ${kill}, ${log[kill - 1]?.type}`;
      const agent = await goOn(api, log.slice(0, kill));
      expectAccepted(await agent.send("go on"), where);
      expectAccepted(await agent.proceed(), where);
      await agent.close();
    }
  });

  test("a session of any other provider continues when killed in any state", async () => {
    for (const [made, log] of logs)
      for (const kill of killsOf(log)) {
        const { id, store } = storeWith(log.slice(0, kill));
        const agent = new Agent({ client: clientFor(api), tools, session: await store.open(id) });
        const where = `made with ${made}, after event ${kill}, ${log[kill - 1]?.type}`;
        expectAccepted(await agent.send("go on"), where);
        await agent.close();
      }
  });
});

test("the recorded sessions have every kind of event that is stored", () => {
  for (const log of logs.values())
    expect(new Set(log.map(({ type }) => type))).toEqual(
      new Set([
        "session_began",
        "user",
        "title",
        "message",
        "tool_began",
        "tool_ended",
        "stopped",
        "compaction",
        "end",
      ]),
    );
});
