import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { createProject } from "../../testing/config/project.ts";
import { createCredentialStore } from "./store.ts";

const KEY = { kind: "api_key", key: "k" } as const;

test("a credential of another version is not used, is named, and stays when others change", async () => {
  using project = createProject();
  const store = createCredentialStore(project);
  const odd = { kind: "passkey", blob: "x" };
  mkdirSync(dirname(store.file), { recursive: true });
  // As the first version wrote it.
  writeFileSync(store.file, JSON.stringify({ openai: KEY, gemini: odd }), { mode: 0o600 });
  expect(store.load()).toEqual({ openai: KEY });
  expect(store.unreadable()).toEqual(["gemini"]);
  await store.change("anthropic", () => KEY);
  expect(JSON.parse(readFileSync(store.file, "utf8"))).toEqual({
    version: 1,
    openai: KEY,
    gemini: odd,
    anthropic: KEY,
  });
});

test("credentials of a newer version are neither used nor overwritten", async () => {
  using project = createProject();
  const store = createCredentialStore(project);
  const text = JSON.stringify({ version: 2, openai: KEY });
  mkdirSync(dirname(store.file), { recursive: true });
  writeFileSync(store.file, text, { mode: 0o600 });
  expect(() => store.load()).toThrow("a newer version of Octant wrote");
  await expect(store.change("anthropic", () => KEY)).rejects.toThrow("update Octant");
  expect(readFileSync(store.file, "utf8")).toBe(text);
});
