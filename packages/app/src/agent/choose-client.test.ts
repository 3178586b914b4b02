import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProviderName } from "@octant/agent";
import { loadConfig } from "@octant/runtime";
import { describe, expect, onTestFinished, test } from "vitest";
import { openClient } from "./choose-client.ts";

test("the settings override models.json, which overrides the table, field by field", async () => {
  const home = mkdtempSync(join(tmpdir(), "octant-models-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const folder = join(home, ".config/hanzo");
  mkdirSync(folder, { recursive: true });
  const write = (name: string, facts: object) =>
    writeFileSync(join(folder, name), JSON.stringify({ models: { "gpt-5.1": facts } }), { mode: 0o600 });
  write("models.json", { context_tokens: 5_000, price: { input: 7, output: 70 } });
  write("settings.json", { context_tokens: 6_000 });
  const env = { HOME: home, OPENAI_API_KEY: "sk-test" };
  const open = (model: string) =>
    openClient({ config: loadConfig({ roots: [], env }) }, env, { provider: "openai", model });
  expect((await open("gpt-5.1")).model).toMatchObject({
    context_tokens: 6_000,
    price: { input: 7, output: 70 },
    max_output_tokens: 128_000,
  });
  expect((await open("nobody-knows")).model).toMatchObject({ context_tokens: 32_768, price: null });
});

describe("the own web search of the model's provider", () => {
  const MODEL = { net_search: { provider: "model" } };
  const searches = async (user: object, project: object = {}, provider: ProviderName = "anthropic") => {
    const home = mkdtempSync(join(tmpdir(), "octant-own-search-"));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const root = join(home, "project");
    const write = (folder: string, settings: object) => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "settings.json"), JSON.stringify(settings), { mode: 0o600 });
    };
    write(join(home, ".config/hanzo"), user);
    write(join(root, ".hanzo"), project);
    const env = { HOME: home, ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", GEMINI_API_KEY: "k" };
    const { model } = await openClient({ config: loadConfig({ roots: [root], env }) }, env, { provider });
    return model.web_search ?? false;
  };

  test("is off unless the person's settings choose it", async () => {
    expect(await searches({})).toBe(false);
    expect(await searches(MODEL)).toBe(true);
    expect(await searches(MODEL, {}, "openai")).toBe(true);
    expect(await searches(MODEL, {}, "gemini")).toBe(true);
    expect(await searches({ net_search: { provider: "searxng", url: "http://localhost:1" } })).toBe(false);
  });

  test("cannot be switched on by a project, which may switch it off", async () => {
    expect(await searches({}, MODEL)).toBe(false);
    expect(await searches(MODEL, { permissions: { "net.search": "deny" } })).toBe(false);
  });

  test.each([
    [{ "net.search": "deny" }, false],
    [{ "net.*": "deny" }, false],
    [{ net: "deny" }, false],
    [{ "net.search": "prompt" }, false],
    [{ "net.request": "deny" }, true],
    [{ "net.search": "allow", "*": "prompt" }, true],
    [[{ tool_pattern: "net.search", mode: "deny", args: { host: "example.com" } }], false],
  ])("under the rules %j is offered: %j", async (permissions, isOffered) => {
    expect(await searches({ ...MODEL, permissions })).toBe(isOffered);
  });

  test("is off where the tool net is", async () => {
    expect(await searches({ ...MODEL, tools: ["fs"] })).toBe(false);
  });
});
