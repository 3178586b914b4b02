import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Opening } from "@octant/mcp";
import { expect, onTestFinished, test } from "vitest";
import { createKeptOpening } from "./kept-opening.ts";

const OPENING: Opening = {
  initialize: {},
  discover: "{}",
  tools: { legacy: "{}", modern: "{}" },
  offers: [],
};

function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), "octant-kept-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const code = join(folder, "main.js");
  writeFileSync(code, "");
  const root = join(folder, "project");
  mkdirSync(join(root, ".hanzo"), { recursive: true });
  return { folder, code, root, env: { XDG_CACHE_HOME: join(folder, "cache"), HOME: folder } };
}

test("what was kept is found again, until the code, a flag, a variable or a settings file is another", () => {
  const { folder, code, root, env } = makeFolder();
  const kept = (flags = {}, more = {}) =>
    createKeptOpening(flags, { env: { ...env, ...more }, roots: [root] }, code);
  expect(kept()?.load()).toBeUndefined();
  kept()?.keep(OPENING);
  expect(kept()?.load()).toEqual(OPENING);
  expect(kept({ mode: "inspect" })?.load()).toBeUndefined();
  expect(kept({}, { OCTANT_TOOLS: "fs" })?.load()).toBeUndefined();
  expect(kept({}, { EDITOR: "vi" })?.load()).toEqual(OPENING);

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
    const before = kept();
    change();
    expect(before?.isCurrent(), String(change)).toBe(false);
    expect(kept()?.load(), String(change)).toBeUndefined();
    kept()?.keep(OPENING);
    expect(kept()?.load()).toEqual(OPENING);
  }
});

test("a few are kept, not one for every way in which a server was ever started", () => {
  const { folder, code, root, env } = makeFolder();
  for (let mode = 0; mode < 50; mode++)
    createKeptOpening({ mode }, { env, roots: [root] }, code)?.keep(OPENING);
  expect(readdirSync(join(folder, "cache/octant/openings")).length).toBeLessThanOrEqual(32);
  expect(createKeptOpening({ mode: 49 }, { env, roots: [root] }, code)?.load()).toEqual(OPENING);
});

test("a checkout keeps nothing, and a folder that cannot be written is no failure", () => {
  const { folder, code, root, env } = makeFolder();
  expect(createKeptOpening({}, { env, roots: [root] }, join(folder, "main.ts"))).toBeUndefined();
  const blocked = createKeptOpening({}, { env: { XDG_CACHE_HOME: code }, roots: [root] }, code);
  blocked?.keep(OPENING);
  expect(blocked?.load()).toBeUndefined();
});
