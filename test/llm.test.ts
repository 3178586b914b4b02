import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createScriptedProvider, type Script, type ScriptedProvider } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { startSession } from "./mcp-session.ts";
import { callOctant } from "./octant-in-process.ts";

const KEY = "sk-test-0123456789abcdef";

const envFor = ({ env }: FixtureProject, provider: ScriptedProvider) => ({
  ...env,
  ANTHROPIC_API_KEY: KEY,
  OPENAI_API_KEY: KEY,
  ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
  OPENAI_BASE_URL: provider.baseUrl("openai"),
});

/** Models answer with their name; the judge with JSON; one fails. */
const VOICES: Script = ({ user, body, api }) => {
  const model = (body as { model?: string }).model ?? "";
  if (model === "broken") return { fault: { status: 400, body: "no such model" } };
  if (user.includes("## Answer A"))
    return {
      parts: [
        {
          text: 'Sure: {"agrees": false, "agreement": "it is a number", "differences": ["A says 4, B says 5"]}',
        },
      ],
    };
  return { parts: [{ text: `${api} says ${model}` }] };
};

test("llm asks models of several providers, compares them, and reports a failing one", async () => {
  using project = createFixtureProject();
  await using provider = await createScriptedProvider(VOICES);
  const env = envFor(project, provider);
  await using session = await startSession(["--tools", "llm"], { cwd: project.root, env });
  const llm = (action: string, input: object) => session.call("llm", { action, ...input });
  const query = await llm("query", { prompt: "hi", model: "anthropic/one", system: "Be brief." });
  expect(query.data, JSON.stringify(query.error)).toMatchObject({
    text: "anthropic says one",
    provider: "anthropic",
    stop: "end",
    usage: { output_tokens: expect.any(Number) },
    cost: null,
  });
  expect(provider.requests[0]).toMatchObject({ system: expect.stringContaining("Be brief.") });
  expect((await llm("stream", { prompt: "hi", model: "openai/two" })).data).toMatchObject({
    text: "openai says two",
  });
  const agreed = await llm("consensus", {
    prompt: "2 + 2?",
    models: ["anthropic/one", "openai/two", "openai/broken"],
  });
  expect(agreed.data, JSON.stringify(agreed.error)).toMatchObject({
    agrees: false,
    agreement: "it is a number",
    differences: ["A says 4, B says 5"],
    answers: [
      { asked: "anthropic/one", text: "anthropic says one" },
      { asked: "openai/two", text: "openai says two" },
      { asked: "openai/broken", error: expect.stringContaining("no such model") },
    ],
    judge: "one",
  });
  const alone = await llm("consensus", { prompt: "x", models: ["openai/two", "openai/broken"] });
  expect(alone.error).toMatchObject({ code: "UPSTREAM_ERROR" });
  expect(JSON.stringify([query, agreed, alone])).not.toContain(KEY);
});

test("embeddings come from a provider or the local table, and anthropic has none", async () => {
  using project = createFixtureProject();
  const server = createServer(async (req, res) => {
    let text = "";
    for await (const chunk of req) text += chunk;
    const { input, model } = JSON.parse(text) as { input: string[]; model: string };
    const isKnown = req.url === "/v1/embeddings" && req.headers.authorization === `Bearer ${KEY}`;
    res.writeHead(isKnown && model === "small" ? 200 : 404, { "content-type": "application/json" });
    const data = input.map((one, index) => ({ index, embedding: [one.length, 0, 3] })).reverse();
    res.end(
      JSON.stringify(
        model === "small" ? { data, usage: { prompt_tokens: 7 } } : { error: { message: "unknown model" } },
      ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // Listening on a port makes it an address of the internet.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const env = { ...project.env, OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url, ANTHROPIC_API_KEY: KEY };
  try {
    await using session = await startSession(["--tools", "llm,fs"], { cwd: project.root, env });
    const embed = (input: object) => session.call("llm", { action: "embed", ...input });
    const given = await embed({ texts: ["four", "none"], model: "openai/small" });
    expect(given.data, JSON.stringify(given.error)).toMatchObject({
      dimensions: 3,
      vectors: [
        [0.8, 0, 0.6],
        [0.8, 0, 0.6],
      ],
      similarities: [
        [1, 1],
        [1, 1],
      ],
      input_tokens: 7,
    });
    const read = await session.call("fs", { action: "read", uri: given.data?.["ref"], encoding: "base64" });
    expect(read.data, JSON.stringify(read.error)).toMatchObject({ size: 24 });
    expect((await embed({ texts: ["x"], model: "openai/large" })).error).toMatchObject({
      code: "UPSTREAM_ERROR",
      message: "openai did not embed with 'large': status 404: unknown model",
    });
    expect((await embed({ texts: ["x"], model: "anthropic/any" })).error).toMatchObject({
      code: "UNSUPPORTED",
    });
    const local = await embed({ texts: ["open the file", "read a document", "sort numbers"] });
    const { similarities } = local.data as { similarities: number[][] };
    expect(similarities[0]?.[0]).toBeCloseTo(1, 3);
    expect(local.meta["backend"]).toBe("local");
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("what the agent spends through llm counts towards its session and limits", async () => {
  using project = createFixtureProject();
  await using provider = await createScriptedProvider(({ user, answers }) => {
    if (user === "second opinion")
      return { parts: [{ text: "fine" }], usage: { input: 5_000, cached: 0, output: 1 } };
    return answers === 0
      ? { parts: [{ call: "llm", input: { action: "query", prompt: "second opinion" } }] }
      : { parts: [{ text: "done" }] };
  });
  const run = (...args: string[]) =>
    callOctant(
      ["run", "go", "--provider", "anthropic", "--model", "m", "--tools", "llm", "--allow", "llm.*", ...args],
      { cwd: project.root, env: envFor(project, provider) },
    );
  const limited = await run("--max-tokens", "4000");
  expect(limited.code, limited.stderr).toBe(3);
  expect(limited.stderr).toContain("the limit of 4000 tokens is reached");
});

test("an answer that does not match output_schema is an error, and one that does is JSON", async () => {
  using project = createFixtureProject();
  await using provider = await createScriptedProvider(({ user }) => ({
    parts: [{ text: user.startsWith("right") ? '```json\n{"n": 4}\n```' : '{"n": "four"}' }],
  }));
  await using session = await startSession(["--tools", "llm"], {
    cwd: project.root,
    env: envFor(project, provider),
  });
  const output_schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const query = (prompt: string, schema: object = output_schema) =>
    session.call("llm", { action: "query", prompt, model: "anthropic/one", output_schema: schema });
  expect((await query("right")).data).toMatchObject({ text: '{"n":4}' });
  expect((await query("wrong")).error).toMatchObject({
    code: "UPSTREAM_ERROR",
    message: expect.stringContaining("anthropic/one does not fit output_schema"),
  });
  expect((await query("right", { type: "no type" })).error).toMatchObject({ code: "INVALID_ARGUMENT" });
  expect(provider.requests).toHaveLength(2);
});
