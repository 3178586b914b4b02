import { globalAgent } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { Anthropic } from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import {
  type ApiClient,
  type AssistantPart,
  createApiClient,
  keyCredentials,
  type Message,
  type ModelRequest,
  type ProviderName,
  type RetryOptions,
  type StreamEvent,
} from "@octant/agent";
import { OpenAI } from "openai";
import { describe, expect, test } from "vitest";
import {
  API_NAMES,
  type ApiName,
  createScriptedProvider,
  type Script,
  type ScriptedProvider,
} from "./index.ts";

const KEY = "sk-secret-0123456789";
const FAST: RetryOptions = { base_ms: 1, max_ms: 2 };

const clientFor = (
  api: ApiName,
  provider: Pick<ScriptedProvider, "baseUrl">,
  more: { stall_ms?: number; retry?: RetryOptions } = {},
) =>
  createApiClient({
    provider: api satisfies ProviderName,
    model: api === "openai" ? "gpt-5" : api === "anthropic" ? "claude-sonnet-4-5" : "some-model",
    base_url: provider.baseUrl(api),
    credentials: keyCredentials(api, KEY),
    retry: FAST,
    ...more,
  });

const REQUEST: ModelRequest = {
  system: "Be brief.",
  tools: [{ name: "fs", description: "Files.", input_schema: { type: "object", properties: {} } }],
  messages: [{ role: "user", origin: "person", content: [{ type: "text", text: "Hi" }] }],
};

async function ask(client: ApiClient, request = REQUEST, signal = new AbortController().signal) {
  const events: StreamEvent[] = [];
  for await (const event of client.send(request, signal)) events.push(event);
  const done = events.at(-1);
  if (done?.type !== "done") throw new Error("the last event is not done");
  return { events, done };
}

/** A way to the provider that counts connections, and resets the one of the request after `cutNext`. */
async function openRelay(provider: ScriptedProvider) {
  const { port, hostname } = new URL(provider.url);
  let connections = 0;
  let isCutting = false;
  const server = createServer((socket) => {
    connections += 1;
    const onward = connect(Number(port), hostname);
    for (const end of [socket, onward]) end.on("error", () => {});
    socket.on("close", () => onward.destroy());
    socket.on("data", (bytes) => {
      if (!isCutting) return void onward.write(bytes);
      isCutting = false;
      socket.resetAndDestroy();
    });
    onward.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server listening on a port has an address of this type.
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl: (api: ApiName) => provider.baseUrl(api).replace(provider.url, `http://${host}`),
    connections: () => connections,
    /** Those that wait for a request. */
    idle: () => globalAgent.freeSockets[`${host}:`]?.length ?? 0,
    cutNext: () => {
      isCutting = true;
    },
    [Symbol.dispose]: () => void server.close(),
  };
}

/** Content without ids and provider-specific parts. */
const toPlain = (parts: readonly AssistantPart[]) =>
  parts.map((part) => {
    if (part.type === "web_search") return { type: part.type, queries: part.queries, sources: part.sources };
    if (part.type !== "tool_call") return { type: part.type, text: part.text };
    return { type: part.type, name: part.name, input: JSON.parse(part.arguments || "{}") };
  });

const TEXT = "Grüße aus 東京 👋 — a longer text, so that it comes in many pieces.\n\nAnd a second paragraph.";
const SCRIPT: Script = [
  {
    parts: [
      { thinking: "The person greets me." },
      { text: TEXT },
      { call: "fs", input: { action: "read", uri: "a b.txt", note: 'ü\n"q"' } },
      { call: "fs", input: {} },
    ],
    usage: { input: 500, cached: 300, output: 40 },
  },
];
const EXPECTED = [
  { type: "thinking", text: "The person greets me." },
  { type: "text", text: TEXT },
  { type: "tool_call", name: "fs", input: { action: "read", uri: "a b.txt", note: 'ü\n"q"' } },
  { type: "tool_call", name: "fs", input: {} },
];

const always = (script: Script): Script => (Array.isArray(script) ? () => script[0] ?? {} : script);

describe.each(API_NAMES)("%s", (api) => {
  test.each(["whole", "byte", { seed: 7 }] as const)(
    "an answer is read whole when cut as %o",
    async (chunks) => {
      const script: Script = [{ ...(SCRIPT as readonly object[])[0], chunks }];
      await using provider = await createScriptedProvider(script);
      const { events, done } = await ask(clientFor(api, provider));
      expect(toPlain(done.message.content)).toEqual(EXPECTED);
      expect(done).toMatchObject({
        stop: "tool_calls",
        usage: { input_tokens: 200, cache_read_tokens: 300, output_tokens: 40 },
      });
      const shown = events.flatMap((event) => (event.type === "text_delta" ? [event.text] : []));
      expect(shown.join("")).toBe(TEXT);
      const calls = events.flatMap((event) =>
        event.type === "call_delta" && event.name ? [event.call_id] : [],
      );
      expect(done.message.content.flatMap((part) => (part.type === "tool_call" ? [part.id] : []))).toEqual(
        calls,
      );
      expect(new Set(calls).size).toBe(2);
    },
  );

  test("the official SDK reads the same content from the same stream", async () => {
    await using provider = await createScriptedProvider(always(SCRIPT));
    const theirs = await SDK[api](provider);
    const { done } = await ask(clientFor(api, provider));
    const ours = toPlain(done.message.content).filter(({ type }) => theirs.kinds.includes(type));
    expect(ours).toEqual(theirs.parts);
  });

  test("the key is sent to the provider in a header and nowhere else", async () => {
    await using provider = await createScriptedProvider([
      { fault: { status: 401, body: `bad key ${KEY.slice(0, 4)}…` } },
      { fault: { status: 401, body: `bad key ${KEY}` } },
    ]);
    const failure = await ask(clientFor(api, provider)).catch((cause) => cause);
    expect(failure).toMatchObject({ failure: "auth", message: expect.stringContaining("octant login") });
    expect(JSON.stringify([failure, failure.message, failure.stack])).not.toContain(KEY);
    expect(JSON.stringify(provider.requests[0]?.headers)).toContain(KEY);
    expect(provider.requests[0]?.raw + String(provider.requests[0]?.path)).not.toContain(KEY);
  });

  test("rejected credentials are refreshed once", async () => {
    await using provider = await createScriptedProvider([
      { fault: { status: 401 } },
      { parts: [{ text: "in" }] },
    ]);
    const asked: boolean[] = [];
    const client = createApiClient({
      provider: api,
      model: "m",
      base_url: provider.baseUrl(api),
      credentials: {
        async headers(refused) {
          asked.push(refused);
          return { authorization: `Bearer ${refused ? "new" : "old"}` };
        },
      },
    });
    const { done } = await ask(client);
    expect(toPlain(done.message.content)).toEqual([{ type: "text", text: "in" }]);
    expect(asked).toEqual([false, true]);
    expect(provider.requests[1]?.headers["authorization"]).toBe("Bearer new");
  });

  test.each([
    ["429 with Retry-After", { status: 429, headers: { "retry-after": "0.05" } }, 50],
    ["529", { status: 529 }, 0],
    ["500", { status: 500 }, 0],
    ["503", { status: 503 }, 0],
    ["malformed JSON", { malformed_after: 2 }, 0],
    ["an overload in the stream", { error_after: 2, kind: "overloaded" as const }, 0],
    ["a rate limit in the stream that says how long", { error_after: 1, kind: "rate_limit" as const }, 20],
  ])("%s is retried, and the person is told", async (_what, fault, atLeast) => {
    await using provider = await createScriptedProvider([
      { parts: [{ text: "a first try" }], fault },
      { parts: [{ text: "ok" }] },
    ]);
    const started = performance.now();
    const { events, done } = await ask(clientFor(api, provider));
    expect(performance.now() - started).toBeGreaterThanOrEqual(atLeast - 2);
    expect(toPlain(done.message.content)).toEqual([{ type: "text", text: "ok" }]);
    const retries = events.filter((event) => event.type === "retry");
    expect(retries).toMatchObject([{ attempt: 1, reason: expect.any(String) }]);
    expect(provider.requests).toHaveLength(2);
  });

  test("a stream that is cut after any of its events is retried, and the answer comes once", async () => {
    const parts = [{ text: "words and more" }, { call: "fs", input: { action: "list" } }];
    await using whole = await createScriptedProvider([{ parts }]);
    const { done: expected } = await ask(clientFor(api, whole));
    for (let cut = 0; cut < 40; cut++) {
      await using provider = await createScriptedProvider([{ parts, fault: { cut_after: cut } }, { parts }]);
      const { events, done } = await ask(clientFor(api, provider));
      expect(toPlain(done.message.content), `cut after ${cut}`).toEqual(toPlain(expected.message.content));
      expect(events.filter(({ type }) => type === "done")).toHaveLength(1);
      if (provider.requests.length === 1) return;
    }
    expect.unreachable("the stream was never whole");
  });

  test("requests share a connection, and a new one is opened when the provider has closed it", async () => {
    await using provider = await createScriptedProvider(always(SCRIPT));
    using relay = await openRelay(provider);
    const client = clientFor(api, relay);
    for (let count = 0; count < 3; count++) {
      await ask(client);
      await expect.poll(relay.idle).toBe(1);
    }
    expect(relay.connections()).toBe(1);
    relay.cutNext();
    const { events, done } = await ask(client);
    expect(toPlain(done.message.content)).toEqual(EXPECTED);
    expect(events.some(({ type }) => type === "retry")).toBe(false);
    expect([relay.connections(), provider.requests.length]).toEqual([2, 4]);
  });

  test("a stalled stream is cut and retried", async () => {
    await using provider = await createScriptedProvider([
      { parts: [{ text: "half a word" }], fault: { stall_after: 2 } },
      { parts: [{ text: "ok" }] },
    ]);
    const { events, done } = await ask(clientFor(api, provider, { stall_ms: 1_000 }));
    expect(toPlain(done.message.content)).toEqual([{ type: "text", text: "ok" }]);
    expect(events.find(({ type }) => type === "retry")).toMatchObject({
      reason: expect.stringContaining("sent nothing for 1 s"),
    });
  });

  test("a conversation that is too long is reported, at once and in the stream, and not retried", async () => {
    const tooLong = {
      error: { type: "invalid_request_error", message: "prompt is too long: 9 tokens > 8 maximum" },
    };
    await using provider = await createScriptedProvider([
      { fault: { status: 400, body: tooLong } },
      { parts: [{ text: "x" }], fault: { error_after: 1, kind: "context_length" } },
    ]);
    for (const _attempt of [1, 2])
      await expect(ask(clientFor(api, provider))).rejects.toMatchObject({ failure: "context_length" });
    expect(provider.requests).toHaveLength(2);
  });

  test("retries end with a reason, and permanent failures are not retried", async () => {
    await using provider = await createScriptedProvider(() => ({ fault: { status: 529 } }));
    const retry = { ...FAST, max_attempts: 3 };
    await expect(ask(clientFor(api, provider, { retry }))).rejects.toMatchObject({
      failure: "overloaded",
      message: expect.stringContaining("gave up after 3 attempts"),
    });
    expect(provider.requests).toHaveLength(3);
    await using late = await createScriptedProvider(() => ({
      fault: { status: 429, headers: { "retry-after": "3600" } },
    }));
    await expect(ask(clientFor(api, late))).rejects.toThrow("too late (in 3600 s)");
    await using broke = await createScriptedProvider(() => ({
      fault: {
        status: 429,
        body: { error: { code: "insufficient_quota", message: "You exceeded your quota" } },
      },
    }));
    await expect(ask(clientFor(api, broke))).rejects.toMatchObject({ failure: "quota" });
    expect(broke.requests).toHaveLength(1);
  });

  test("an unreachable provider is named with its address", async () => {
    const provider = await createScriptedProvider([]);
    await provider.close();
    const client = clientFor(api, provider, { retry: { ...FAST, max_attempts: 1 } });
    await expect(ask(client)).rejects.toMatchObject({
      failure: "unreachable",
      message: expect.stringMatching(/cannot be reached at http:\/\/127\.0\.0\.1:\d+: ECONNREFUSED/),
    });
  });

  test("cancelling ends the request at once", async () => {
    await using provider = await createScriptedProvider([
      { parts: [{ text: "a b c d" }], fault: { stall_after: 2 } },
    ]);
    const stop = new AbortController();
    const running = ask(clientFor(api, provider), REQUEST, stop.signal);
    setTimeout(() => stop.abort(), 50);
    await expect(running).rejects.toThrow("aborted");
  });

  test.each([
    ["output_limit", "output_limit"],
    ["refusal", "refusal"],
    ["end", "end"],
  ] as const)("the stop %s is told as %s", async (stop, expected) => {
    await using provider = await createScriptedProvider([{ parts: [{ text: "So" }], stop }]);
    expect((await ask(clientFor(api, provider))).done.stop).toBe(expected);
  });

  test("each request starts with the bytes of the previous one, and echoes what the API expects back", async () => {
    await using provider = await createScriptedProvider(always(SCRIPT));
    const client = clientFor(api, provider);
    const messages: Message[] = [...REQUEST.messages];
    for (const _turn of [1, 2, 3]) {
      const { done } = await ask(client, { ...REQUEST, messages });
      const calls = done.message.content.flatMap((part) => (part.type === "tool_call" ? [part] : []));
      const image = { type: "image", mime: "image/png", data: "iVBORw0KGgo=" } as const;
      messages.push(done.message, {
        role: "tool",
        results: calls.map(({ id, name }, at) => ({
          call_id: id,
          name,
          content: [{ type: "text", text: `result ${at}` }, ...(at === 0 ? [image] : [])],
          is_error: at === 1,
        })),
      });
      messages.push({
        role: "user",
        origin: "context",
        content: [{ type: "text", text: "Mind the tests." }],
      });
    }
    const bodies = provider.requests.map(({ raw }) => raw);
    for (const [at, body] of bodies.slice(1).entries()) {
      const before = bodies[at] ?? "";
      // Everything except the end of the list of messages and what follows it.
      const end = before.lastIndexOf(
        "]",
        before.lastIndexOf(api === "anthropic" ? ',"cache_control"' : "]}"),
      );
      expect(body.slice(0, end)).toBe(before.slice(0, end));
      expect(body.length).toBeGreaterThan(before.length);
    }
    const last = provider.requests.at(-1);
    expect(last?.all_results.map(({ text }) => text)).toEqual([
      "result 0",
      "result 1",
      "result 0",
      "result 1",
    ]);
    expect(last?.answers).toBe(2);
    if (api !== "openai-chat")
      expect(bodies.at(-1)).toMatch(/"(signature|encrypted_content|thoughtSignature)":"/);
    if (api === "openai-chat") expect(bodies.at(-1)).toContain('"reasoning_content":"The person greets me."');
    expect(bodies.at(-1)).toContain("iVBORw0KGgo=");
  });
});

interface Theirs {
  readonly kinds: readonly string[];
  readonly parts: readonly unknown[];
}

/** The stream as parsed by the provider's own library. */
const SDK: Readonly<Record<ApiName, (provider: ScriptedProvider) => Promise<Theirs>>> = {
  async anthropic(provider) {
    const client = new Anthropic({ apiKey: KEY, baseURL: provider.baseUrl("anthropic"), maxRetries: 0 });
    const message = await client.messages
      .stream({ model: "m", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] })
      .finalMessage();
    const parts = message.content.map((block) => {
      if (block.type === "thinking") return { type: "thinking", text: block.thinking };
      if (block.type === "text") return { type: "text", text: block.text };
      if (block.type === "tool_use") return { type: "tool_call", name: block.name, input: block.input };
      return block;
    });
    return { kinds: ["thinking", "text", "tool_call"], parts };
  },
  async openai(provider) {
    const client = new OpenAI({ apiKey: KEY, baseURL: provider.baseUrl("openai"), maxRetries: 0 });
    const response = await client.responses.stream({ model: "m", input: "Hi" }).finalResponse();
    const parts = response.output.map((item) => {
      if (item.type === "reasoning")
        return { type: "thinking", text: item.summary.map(({ text }) => text).join("") };
      if (item.type === "message")
        return { type: "text", text: item.content.map((part) => ("text" in part ? part.text : "")).join("") };
      if (item.type === "function_call")
        return { type: "tool_call", name: item.name, input: JSON.parse(item.arguments) };
      return item;
    });
    return { kinds: ["thinking", "text", "tool_call"], parts };
  },
  async "openai-chat"(provider) {
    const client = new OpenAI({ apiKey: KEY, baseURL: provider.baseUrl("openai-chat"), maxRetries: 0 });
    const message = await client.chat.completions
      .stream({ model: "m", messages: [{ role: "user", content: "Hi" }] })
      .finalMessage();
    const calls = (message.tool_calls ?? []).map((call) =>
      call.type === "function"
        ? { type: "tool_call", name: call.function.name, input: JSON.parse(call.function.arguments) }
        : call,
    );
    // The library has no name for reasoning here.
    return { kinds: ["text", "tool_call"], parts: [{ type: "text", text: message.content }, ...calls] };
  },
  async gemini(provider) {
    const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: provider.baseUrl("gemini") } });
    const stream = await client.models.generateContentStream({ model: "m", contents: "Hi" });
    const parts: { type: string; text?: string; name?: string; input?: unknown }[] = [];
    for await (const chunk of stream)
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
        if (part.functionCall) {
          parts.push({
            type: "tool_call",
            name: part.functionCall.name ?? "",
            input: part.functionCall.args,
          });
          continue;
        }
        const type = part.thought ? "thinking" : "text";
        const last = parts.at(-1);
        if (last?.type === type) last.text += part.text ?? "";
        else if (part.text) parts.push({ type, text: part.text });
      }
    return { kinds: ["thinking", "text", "tool_call"], parts };
  },
};

test.each([
  ["mid-conversation-system-2026-04-07", 200, "Hello"],
  ["", 400, undefined],
])("system messages between the others need the beta header '%s'", async (beta, status, user) => {
  await using provider = await createScriptedProvider([{ parts: [{ text: "Hi." }] }]);
  const response = await fetch(`${provider.baseUrl("anthropic")}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": KEY, "anthropic-beta": `claude-code-20250219,${beta}` },
    body: JSON.stringify({
      model: "m",
      max_tokens: 1,
      stream: true,
      messages: [
        { role: "user", content: "Hello" },
        { role: "system", content: "Agents: none." },
      ],
    }),
  });
  await response.text();
  expect(response.status).toBe(status);
  if (user !== undefined) expect(provider.requests[0]?.user).toBe(user);
});

test("tools in a namespace, as Codex has them, are listed with it and called in it", async () => {
  await using provider = await createScriptedProvider([
    { parts: [{ call: "fs", namespace: "mcp__octant", input: { action: "read" } }] },
  ]);
  const client = new OpenAI({ apiKey: KEY, baseURL: provider.baseUrl("openai") });
  const stream = await client.responses.create({
    model: "m",
    input: "Hi",
    stream: true,
    tools: [
      {
        type: "namespace",
        name: "mcp__octant",
        description: "Tools.",
        tools: [{ type: "function", name: "fs", parameters: { type: "object", properties: {} } }],
      },
    ],
  });
  const done = [];
  for await (const event of stream) if (event.type === "response.output_item.done") done.push(event.item);
  expect(provider.requests[0]?.tools).toEqual(["mcp__octant__fs"]);
  expect(done).toEqual([
    expect.objectContaining({ type: "function_call", name: "fs", namespace: "mcp__octant" }),
  ]);
});
