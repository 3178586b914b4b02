import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Agent,
  type AgentEvent,
  createApiClient,
  FileSessionStore,
  keyCredentials,
  type ToolExecutor,
} from "@octant/agent";
import { afterAll, describe, expect, test } from "vitest";
import {
  API_NAMES,
  type ApiName,
  createScriptedProvider,
  type Script,
  type ScriptedProvider,
} from "./index.ts";
import { refusalOf } from "./strict/index.ts";

const SEARCHING = ["anthropic", "openai", "gemini"] as const;
/** The tool in a request, something that only a search leaves in the history, how many blocks it is, and its price. */
const OWN = {
  anthropic: ["web_search_20250305", "encrypted_content", 2, 0.01],
  openai: ['{"type":"web_search"}', "url_citation", 1, 0.01],
  gemini: ['{"googleSearch":{}}', "GOOGLE_SEARCH_WEB", 2, 0.014],
} as const;
const PAGE = { title: "Node 24", url: "https://nodejs.org/en/blog" };
const MODELS = {
  anthropic: "claude-sonnet-5-5",
  openai: "gpt-6.1-sol",
  "openai-chat": "m",
  gemini: "gemini-3.8-flash",
};

const SEARCH: Script = ({ answers, user }) => {
  if (user.includes("write a summary")) return { parts: [{ text: "It was about Node." }] };
  if (answers > 0) return { parts: [{ text: "Nothing new." }] };
  return {
    parts: [
      { thinking: "I should look it up." },
      { search: "node 24 release", sources: [PAGE] },
      { text: "It is out.", cites: PAGE },
      { call: "read", input: {} },
    ],
  };
};

const tools: ToolExecutor = {
  definitions: () => [{ name: "read", description: "read", input_schema: { type: "object" } }],
  outline: ({ name }) => ({ title: name, kind: "other", reads_only: true, paths: [] }),
  execute: async () => ({ content: [{ type: "text", text: "read" }], is_error: false }),
};

const folder = mkdtempSync(join(tmpdir(), "octant-web-search-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let stores = 0;

const clientFor = (provider: ScriptedProvider, api: ApiName, web_search = true) =>
  createApiClient({
    provider: api,
    model: MODELS[api],
    base_url: provider.baseUrl(api),
    credentials: keyCredentials(api, "k"),
    thinking: "high",
    web_search,
    retry: { max_attempts: 1 },
  });

async function openAgent(provider: ScriptedProvider, api: ApiName, web_search = true) {
  const store = new FileSessionStore({ folder: join(folder, `${++stores}`) });
  const session = await store.create();
  const agent = new Agent({
    client: clientFor(provider, api, web_search),
    tools,
    session,
    system: "Be brief.",
  });
  return { agent, store, id: session.id };
}

const blocksOf = (raw = ""): readonly string[] =>
  raw.match(/"(server_tool_use|web_search_tool_result|web_search_call|toolCall|toolResponse)"/g) ?? [];
const doneOf = ({ reason, message = "" }: { readonly reason: string; readonly message?: string }) =>
  reason === "done" ? "done" : message;

describe.each(SEARCHING)("%s", (api) => {
  test("a search goes back unchanged in the same prefix, also after a resume", async () => {
    await using provider = await createScriptedProvider(SEARCH);
    const { agent, store, id } = await openAgent(provider, api);
    expect(doneOf(await agent.send("what is new?"))).toBe("done");
    await agent.close();
    const resumed = new Agent({ client: clientFor(provider, api), tools, session: await store.open(id) });
    expect(doneOf(await resumed.send("and now?"))).toBe("done");
    await resumed.close();
    const [first = "", second = "", third = ""] = provider.requests.map(({ raw }) => raw);
    const [tool, trace, blocks] = OWN[api];
    expect(first).toContain(tool);
    expect(second).toContain(trace);
    const head = (raw: string) => raw.slice(0, raw.indexOf("what is new?"));
    expect([head(second), head(third)]).toEqual([head(first), head(first)]);
    const history = second.slice(second.indexOf("what is new?"), second.lastIndexOf("read"));
    expect(third).toContain(history);
    expect(blocksOf(third)).toEqual(blocksOf(second));
    expect(blocksOf(third)).toHaveLength(blocks);
  });

  test("the question and the sources are events, and the search is in the cost", async () => {
    await using provider = await createScriptedProvider(SEARCH);
    const { agent } = await openAgent(provider, api);
    const events: AgentEvent[] = [];
    agent.subscribe((event) => void events.push(event));
    await agent.send("what is new?");
    const shown = events.filter((event) => event.type === "web_search");
    expect(shown.flatMap(({ queries }) => queries)).toEqual(["node 24 release"]);
    expect(shown.flatMap(({ sources }) => sources.map(({ url }) => url))).toEqual([PAGE.url]);
    const [searched, other] = events.filter((event) => event.type === "message");
    expect(searched?.usage.web_searches).toBe(1);
    // Both answers have the same tokens, so only the search differs.
    expect((searched?.cost ?? 0) - (other?.cost ?? 0)).toBeCloseTo(OWN[api][3], 10);
    expect(agent.session.conversation.usage.web_searches).toBe(1);
    await agent.close();
  });

  test("a compacted conversation with searches is accepted", async () => {
    await using provider = await createScriptedProvider(SEARCH);
    const { agent } = await openAgent(provider, api);
    await agent.send("what is new?");
    for (const message of ["one", "two", "three", "four", "five", "six"])
      await agent.send(`${message} ${"x".repeat(4_000)}`);
    expect(await agent.compact()).toBe(true);
    expect(doneOf(await agent.send("and now?"))).toBe("done");
    expect(blocksOf(provider.requests.at(-1)?.raw)).toEqual([]);
    await agent.close();
  });

  test.each(API_NAMES.filter((name) => name !== api))(
    "%s gets none of its searches after a switch",
    async (other) => {
      await using provider = await createScriptedProvider(SEARCH);
      const { agent } = await openAgent(provider, api);
      await agent.send("what is new?");
      await agent.useModel(clientFor(provider, other));
      expect(doneOf(await agent.send("and now?"))).toBe("done");
      const raw = provider.requests.at(-1)?.raw;
      expect(blocksOf(raw)).toEqual([]);
      expect(raw).not.toMatch(/encrypted_index|url_citation|search_suggestions/);
      expect(raw).toContain("It is out.");
      await agent.useModel(clientFor(provider, api));
      expect(doneOf(await agent.send("back again"))).toBe("done");
      expect(blocksOf(provider.requests.at(-1)?.raw).length).toBeGreaterThan(0);
      await agent.close();
    },
  );

  test("without the option there is no tool, and searches of before are left out", async () => {
    await using provider = await createScriptedProvider(SEARCH);
    const { agent } = await openAgent(provider, api);
    await agent.send("what is new?");
    await agent.useModel(clientFor(provider, api, false));
    expect(doneOf(await agent.send("and now?"))).toBe("done");
    expect(provider.requests.at(-1)?.raw).not.toMatch(
      /web_search|googleSearch|encrypted_index|url_citation|search_suggestions/,
    );
    await agent.close();
  });

  test("the scripted provider refuses a search that comes back changed", async () => {
    await using provider = await createScriptedProvider(SEARCH);
    const { agent } = await openAgent(provider, api);
    await agent.send("what is new?");
    await agent.close();
    const { raw = "", path = "" } = provider.requests.at(-1) ?? {};
    const refusal = (text: string) => refusalOf(api, text, JSON.parse(text), { path, headers: {} })?.status;
    expect(refusal(raw)).toBeUndefined();
    const changed = api === "gemini" ? "<div>node 24 release" : PAGE.url;
    expect(refusal(raw.replaceAll(changed, "https://elsewhere.example"))).toBe(400);
    expect(refusal(raw.replace(/"(web_search_20250305|web_search|googleSearch)"/, '"function"'))).toBe(400);
  });
});

test("a price in the settings comes first, and a search without a price has an unknown cost", async () => {
  await using provider = await createScriptedProvider(SEARCH);
  const costWith = async (price: object | undefined) => {
    const store = new FileSessionStore({ folder: join(folder, `${++stores}`) });
    const client = createApiClient({
      provider: "openai",
      model: "of-nobody",
      base_url: provider.baseUrl("openai"),
      credentials: keyCredentials("openai", "k"),
      web_search: true,
      ...(price && { models: [{ id: "of-nobody", price: { input: 0, output: 0, ...price } }] }),
    });
    const agent = new Agent({ client, tools, session: await store.create() });
    const { cost } = await agent.send("what is new?");
    await agent.close();
    return cost;
  };
  expect(await costWith({ search: 0.5 })).toBe(0.5);
  expect(await costWith({})).toBe(0.01);
  expect(await costWith(undefined)).toBeNull();
});

describe("gemini", () => {
  const openModel = async (provider: ScriptedProvider, model: string, offered: ToolExecutor) => {
    const store = new FileSessionStore({ folder: join(folder, `${++stores}`) });
    const client = createApiClient({
      provider: "gemini",
      model,
      base_url: provider.baseUrl("gemini"),
      credentials: keyCredentials("gemini", "k"),
      web_search: true,
      retry: { max_attempts: 1 },
    });
    return new Agent({ client, tools: offered, session: await store.create() });
  };

  test("version 2, which refuses its search beside functions, is offered the functions alone", async () => {
    await using provider = await createScriptedProvider(() => ({ parts: [{ text: "Done." }] }));
    const agent = await openModel(provider, "gemini-2.5-pro", tools);
    expect(doneOf(await agent.send("what is new?"))).toBe("done");
    await agent.close();
    expect(provider.requests[0]?.raw).not.toContain("googleSearch");
    expect(provider.requests[0]?.tools).toEqual(["read"]);
  });

  test("the scripted provider refuses the search beside functions as the real one does", async () => {
    await using provider = await createScriptedProvider(SEARCH);
    const agent = await openModel(provider, "gemini-3.8-flash", tools);
    await agent.send("what is new?");
    await agent.close();
    const { raw = "", path = "" } = provider.requests[0] ?? {};
    const refusal = (text: string, to = path) =>
      JSON.stringify(refusalOf("gemini", text, JSON.parse(text), { path: to, headers: {} })?.body ?? "");
    expect(refusal(raw)).toBe('""');
    expect(refusal(raw, path.replace("gemini-3.8", "gemini-2.5"))).toContain("cannot be combined");
    expect(refusal(raw.replace('"includeServerSideToolInvocations":true', ""))).toContain("Please enable");
  });

  test("calls keep the ids that the API gave them, and their responses name them", async () => {
    await using provider = await createScriptedProvider(({ answers }) =>
      answers > 0 ? { parts: [{ text: "Done." }] } : { parts: [{ call: "read", input: {}, id: "own_1" }] },
    );
    const agent = await openModel(provider, "gemini-3.8-flash", tools);
    expect(doneOf(await agent.send("read"))).toBe("done");
    await agent.close();
    expect(provider.requests[1]?.raw.match(/"id":"own_1"/g)).toHaveLength(2);
  });

  test("an answer without functions tells its sources alone, and sends nothing of them back", async () => {
    const bare = { ...tools, definitions: () => [] };
    await using provider = await createScriptedProvider(({ answers }) =>
      answers > 0 ? { parts: [{ text: "Nothing new." }] } : { parts: [{ text: "It is out.", cites: PAGE }] },
    );
    const agent = await openModel(provider, "gemini-3.8-flash", bare);
    const events: AgentEvent[] = [];
    agent.subscribe((event) => void events.push(event));
    await agent.send("what is new?");
    expect(doneOf(await agent.send("and now?"))).toBe("done");
    await agent.close();
    const shown = events.filter((event) => event.type === "web_search");
    expect(shown.map(({ sources }) => sources)).toEqual([[PAGE]]);
    expect(provider.requests.at(-1)?.raw).not.toContain(PAGE.url);
  });
});

/** Anthropic pauses long searches; the answer goes on when it comes back as it was. */
describe("a paused search", () => {
  const PAUSE: Script = ({ body, user }) => {
    if (user === "stop there") return { parts: [{ text: "Stopped." }] };
    // The body of a request.
    const { messages } = body as { readonly messages: readonly { readonly role: string }[] };
    if (messages.at(-1)?.role === "assistant")
      return {
        parts: [
          { found: [PAGE], id: "srvtoolu_slow" },
          { text: "Found it.", cites: PAGE },
        ],
      };
    if (messages.length > 1) return { parts: [{ text: "Nothing new." }] };
    return { parts: [{ text: "I look." }, { search: "slow", id: "srvtoolu_slow" }], stop: "pause" };
  };

  test("goes on without a message of ours, and is one answer from then on", async () => {
    await using provider = await createScriptedProvider(PAUSE);
    const { agent, store, id } = await openAgent(provider, "anthropic");
    expect(doneOf(await agent.send("look"))).toBe("done");
    expect(provider.requests).toHaveLength(2);
    await agent.close();
    const resumed = new Agent({
      client: clientFor(provider, "anthropic"),
      tools,
      session: await store.open(id),
    });
    expect(doneOf(await resumed.send("and now?"))).toBe("done");
    expect(blocksOf(provider.requests.at(-1)?.raw)).toHaveLength(2);
    expect(provider.requests.at(-1)?.answers).toBe(1);
    await resumed.close();
  });

  test("that the person interrupts is left out of the next request", async () => {
    await using provider = await createScriptedProvider(PAUSE);
    const { agent } = await openAgent(provider, "anthropic");
    await agent.send("look", { limits: { max_turns: 1 } });
    expect(provider.requests).toHaveLength(1);
    expect(doneOf(await agent.send("stop there"))).toBe("done");
    expect(blocksOf(provider.requests.at(-1)?.raw)).toEqual([]);
    expect(provider.requests.at(-1)?.raw).toContain("I look.");
    await agent.close();
  });
});
