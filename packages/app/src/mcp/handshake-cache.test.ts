import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HandshakeResults } from "@octant/mcp";
import { expect, onTestFinished, test } from "vitest";
import { createHandshakeCache } from "./handshake-cache.ts";

const RESULTS: HandshakeResults = {
  initialize: {},
  discover: {},
  tools: { structured: { legacy: {}, modern: {} }, text: { legacy: {}, modern: {} } },
  offers: [],
};

function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), "octant-handshakes-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const code = join(folder, "main.js");
  writeFileSync(code, "");
  const root = join(folder, "project");
  mkdirSync(join(root, ".hanzo"), { recursive: true });
  return { folder, code, root, env: { XDG_CACHE_HOME: join(folder, "cache"), HOME: folder } };
}

test("stored results are valid until the code, a flag, a variable or a settings file changes", () => {
  const { folder, code, root, env } = makeFolder();
  const cache = (flags = {}, more = {}) =>
    createHandshakeCache(flags, { env: { ...env, ...more }, roots: [root] }, code);
  expect(cache()?.load()).toBeUndefined();
  cache()?.store(RESULTS);
  expect(cache()?.load()).toEqual(RESULTS);
  expect(cache({ mode: "inspect" })?.load()).toBeUndefined();
  expect(cache({}, { OCTANT_TOOLS: "fs" })?.load()).toBeUndefined();
  expect(cache({}, { EDITOR: "vi" })?.load()).toEqual(RESULTS);

  const settings = join(root, ".hanzo/settings.json");
  const changes = [
    () => writeFileSync(settings, "{}"),
    () => writeFileSync(settings, '{"mode":"inspect"}'),
    () => chmodSync(settings, 0o666),
    () => mkdirSync(join(folder, ".config/hanzo"), { recursive: true }),
    () => writeFileSync(join(folder, ".config/hanzo/trust.json"), "[]"),
    () => utimesSync(code, 1, 1),
    () => rmSync(root, { recursive: true }),
  ];
  for (const change of changes) {
    const before = cache();
    change();
    expect(before?.isCurrent(), String(change)).toBe(false);
    expect(cache()?.load(), String(change)).toBeUndefined();
    cache()?.store(RESULTS);
    expect(cache()?.load()).toEqual(RESULTS);
  }
});

test("the cache keeps the newest entries only", () => {
  const { folder, code, root, env } = makeFolder();
  for (let mode = 0; mode < 50; mode++)
    createHandshakeCache({ mode }, { env, roots: [root] }, code)?.store(RESULTS);
  expect(readdirSync(join(folder, "cache/octant/handshakes")).length).toBeLessThanOrEqual(32);
  expect(createHandshakeCache({ mode: 49 }, { env, roots: [root] }, code)?.load()).toEqual(RESULTS);
});

test("a checkout has no cache, and a folder that cannot be written is not a failure", () => {
  const { folder, code, root, env } = makeFolder();
  expect(createHandshakeCache({}, { env, roots: [root] }, join(folder, "main.ts"))).toBeUndefined();
  const blocked = createHandshakeCache({}, { env: { XDG_CACHE_HOME: code }, roots: [root] }, code);
  blocked?.store(RESULTS);
  expect(blocked?.load()).toBeUndefined();
});
