import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadModels } from "./models-file.ts";

function load(text?: string) {
  const home = mkdtempSync(join(tmpdir(), "octant-models-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, ".config/hanzo"), { recursive: true });
  if (text !== undefined) writeFileSync(join(home, ".config/hanzo/models.json"), text);
  return loadModels({ env: { HOME: home } });
}

test("models.json beside the settings has facts about models; without it there are none", () => {
  const facts = { "qwen3-coder": { context_tokens: 131_072, price: { input: 0.2, output: 0.8 } } };
  expect(load(JSON.stringify({ models: facts }))).toEqual(facts);
  expect(load()).toEqual({});
});

test("a wrong price is refused with its place", () => {
  expect(() => load('{"models":\n {"m": {"price": {"input": -1, "output": 1}}}}')).toThrow(
    "~/.config/hanzo/models.json:2:28: models.m.price.input: expected at least 0",
  );
});
