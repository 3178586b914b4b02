import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { chooseProvider } from "./choose-provider.ts";

const choose = async (choice: Parameters<typeof chooseProvider>[0]) => {
  const { provider, model, base_url, credentials } = await chooseProvider(choice);
  return { provider, model, base_url, headers: await credentials.headers(false) };
};

test("credentials are searched in the order Hanzo, Anthropic, OpenAI", async () => {
  const env = { OPENAI_API_KEY: "o", ANTHROPIC_API_KEY: "a", HANZO_API_KEY: "h" };
  expect(await choose({ env })).toMatchObject({ provider: "hanzo", headers: { authorization: "Bearer h" } });
  const { HANZO_API_KEY: _hanzo, ...two } = env;
  expect(await choose({ env: two })).toMatchObject({ provider: "anthropic", headers: { "x-api-key": "a" } });
});

test("the maker of the requested model comes first", async () => {
  const env = { OPENAI_API_KEY: "o", ANTHROPIC_API_KEY: "a" };
  expect(await choose({ env, model: "gpt-5.1" })).toMatchObject({ provider: "openai", model: "gpt-5.1" });
  expect(await choose({ env, settings: { model: "claude-opus-4-5" } })).toMatchObject({
    provider: "anthropic",
  });
});

test("a self-hosted server needs no key and speaks Chat Completions", async () => {
  const env = { OPENAI_BASE_URL: "http://127.0.0.1:11434/v1" };
  expect(await choose({ env, model: "qwen3-coder" })).toEqual({
    provider: "openai-chat",
    model: "qwen3-coder",
    base_url: "http://127.0.0.1:11434/v1",
    headers: {},
  });
});

test("without a model, a self-hosted server that has one is asked for it", async () => {
  let models = ["qwen3-coder", "nomic-embed-text"];
  await using server = createServer((_, response) => {
    response.end(JSON.stringify({ data: models.map((id) => ({ id })) }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`; // It listens on a port.
  const env = { OPENAI_BASE_URL: `http://${host}/v1` };
  expect(await choose({ env })).toMatchObject({ provider: "openai-chat", model: "qwen3-coder" });
  models = ["qwen3-coder", "llama4"];
  await expect(choose({ env })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: `the server at ${host} has several models; name one with --model: qwen3-coder, llama4`,
  });
  models = [];
  await expect(choose({ env })).rejects.toThrow("has no model yet");
  await expect(choose({ env: { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" } })).rejects.toThrow(
    "the server at 127.0.0.1:9 does not list its models; start it, or name a model with --model",
  );
});

test("an address in the settings is a self-hosted server too", async () => {
  const settings = { base_url: "http://127.0.0.1:11434/v1", model: "qwen3-coder" };
  expect(await choose({ env: {}, settings })).toMatchObject({ provider: "openai-chat", headers: {} });
  expect(await choose({ env: { HANZO_API_KEY: "h" }, settings })).toMatchObject({ provider: "hanzo" });
});

test("a sign-in is used when no key is set", async () => {
  const credentials = {
    find: async (name: string) =>
      name === "openai" ? { headers: async () => ({ authorization: "Bearer t" }) } : undefined,
  };
  expect(await choose({ env: {}, credentials })).toMatchObject({
    provider: "openai",
    headers: { authorization: "Bearer t" },
  });
});

test("without any credentials the ways to get them are listed, a local model first", async () => {
  await expect(choose({ env: {} })).rejects.toMatchObject({
    code: "UNAUTHENTICATED",
    message: expect.stringMatching(/local model[\s\S]*API key[\s\S]*octant login/),
  });
});
