import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRegistry } from "@octant/core";
import { createListing } from "@octant/mcp";
import { expect, onTestFinished, test } from "vitest";
import { createKeptOffers } from "./kept-offers.ts";

function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), "octant-kept-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const code = join(folder, "main.js");
  writeFileSync(code, "");
  return { folder, code, env: { XDG_CACHE_HOME: folder } };
}

test("what was listed once is listed again, until the code or an option is another", () => {
  const { code, env } = makeFolder();
  const offers = [
    {
      listed: { name: "box", description: "", inputSchema: { type: "object" }, annotations: {} },
      tool: "box",
      mayBeTask: false,
    },
  ] as never;
  const kept = (...from: unknown[]) => createKeptOffers(env, from, code);
  expect(kept("a")?.load()).toBeUndefined();
  kept("a")?.keep(offers);
  expect(kept("a")?.load()).toEqual(offers);
  const { tools } = createListing({ registry: createRegistry([]), kept: kept("a") });
  expect(tools.map(({ name }) => name)).toEqual(["box"]);
  expect(kept("b")?.load()).toBeUndefined();
  utimesSync(code, 1, 1);
  expect(kept("a")?.load()).toBeUndefined();
});

test("a checkout keeps nothing, and a folder that cannot be written is no failure", () => {
  const { folder, code } = makeFolder();
  expect(createKeptOffers({ XDG_CACHE_HOME: folder }, [], join(folder, "main.ts"))).toBeUndefined();
  const blocked = createKeptOffers({ XDG_CACHE_HOME: code }, [], code);
  blocked?.keep([]);
  expect(blocked?.load()).toBeUndefined();
  expect(readdirSync(folder)).toEqual(["main.js"]);
});
