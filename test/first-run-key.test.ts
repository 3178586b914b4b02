import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScriptedProvider } from "@octant/scripted-provider";
import { expect, test, vi } from "vitest";
import { startFirstRun } from "./first-run-person.ts";

const KEY = "sk-the-right-one-0123456789";

test("a key that the provider refuses is not stored, and the person is asked again", async () => {
  const home = mkdtempSync(join(tmpdir(), "octant-first-run-"));
  await using provider = await createScriptedProvider([], { key: KEY, models: ["some-model"] });
  let shown = "";
  const shows = (text: string) => vi.waitFor(() => expect(shown).toContain(text), { timeout: 20_000 });
  const env = { HOME: home, ANTHROPIC_BASE_URL: provider.baseUrl("anthropic") };
  const person = startFirstRun({ env, cwd: home, provider: "anthropic" }, (text) => {
    shown += text;
  });
  await shows("API key of anthropic");
  person.type("sk-mistyped-0123456789");
  await shows("anthropic refuses this key (anthropic answered 401)");
  const file = join(home, ".config/hanzo/credentials.json");
  expect(existsSync(file)).toBe(false);
  person.type(KEY);
  await shows("signed in to anthropic");
  expect(await person.done).toBe(true);
  expect(readFileSync(file, "utf8")).toContain(KEY);
  expect(shown).not.toContain("not checked");
  expect(shown).not.toContain(KEY);
  rmSync(home, { recursive: true, force: true });
});
