import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@octant/runtime";
import { expect, onTestFinished, test } from "vitest";
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
