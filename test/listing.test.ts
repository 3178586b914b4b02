import { createOctant } from "@octant/app";
import { createListing } from "@octant/core";
import { afterAll, expect, test } from "vitest";
import { toLegacyTools } from "../packages/mcp/src/methods/tools.ts";
import { createFixtureProject } from "./fixture-project.ts";

const CHARS_PER_TOKEN = 4;
const project = createFixtureProject();
const octant = createOctant({ projectPath: project.root, env: project.env });
afterAll(async () => {
  await octant.close();
  project[Symbol.dispose]();
});

const tokensOf = (names: readonly string[]) => {
  const { tools } = createListing({ registry: octant.registry });
  const chars = tools
    .filter(({ name }) => names.includes(name))
    .map((tool) => JSON.stringify(tool).length + 1);
  return chars.reduce((sum, length) => sum + length, 0) / CHARS_PER_TOKEN;
};

test("ws and fs together cost at most 1,000 tokens", () => {
  expect(tokensOf(["ws", "fs"])).toBeLessThanOrEqual(1_000);
});

test("the default list costs at most 4,900 tokens, 1,000 of them for ui, and 1,200 when it is listed lazily", () => {
  expect(tokensOf(["ui"])).toBeLessThanOrEqual(1_000);
  const listing = createListing({ registry: octant.registry });
  for (const list of [listing.tools, toLegacyTools(listing)])
    expect(JSON.stringify(list).length / CHARS_PER_TOKEN).toBeLessThanOrEqual(4_900);
  const lazy = createListing({ registry: octant.registry, profile: "lazy" });
  expect(JSON.stringify(lazy.tools).length / CHARS_PER_TOKEN).toBeLessThanOrEqual(1_200);
});

test("a briefly listed action is only named, and its parameters are in its schema", () => {
  const { tools } = createListing({ registry: octant.registry });
  const ui = tools.find(({ name }) => name === "ui");
  expect(ui?.description).toMatch(/See schema: .*\broute\b/);
  expect(JSON.stringify(ui?.inputSchema)).toContain('"route"');
  expect(JSON.stringify(ui?.inputSchema)).not.toContain('"pattern"');
});

test("twenty more on-demand tools add at most 60 tokens each, and answer when called", async () => {
  const { registry, dispatch } = octant;
  const sizeOf = () => {
    const listing = createListing({ registry });
    return Math.max(...[listing.tools, toLegacyTools(listing)].map((list) => JSON.stringify(list).length));
  };
  const before = sizeOf();
  const { actions } = registry.get("fs") ?? { actions: {} };
  const names = Array.from({ length: 20 }, (_, i) => `further_${i + 10}`);
  for (const name of names)
    registry.addTool({
      name,
      summary: "Upload, fetch and list build artifacts.",
      listing: "on_demand",
      actions,
    });
  try {
    expect((sizeOf() - before) / CHARS_PER_TOKEN / names.length).toBeLessThanOrEqual(60);
    const call = { tool: "further_10", action: "schema", input: { about: "read" } };
    const { envelope } = await dispatch(call, { caller: { id: "local", access: "admin" } });
    expect(JSON.stringify(envelope.data)).toContain("max_bytes");
  } finally {
    for (const name of names) registry.removeTool(name);
  }
});

// These two leave room for the others.
test("proc and test together cost at most 1,100 tokens", () => {
  expect(tokensOf(["proc", "test"])).toBeLessThanOrEqual(1_100);
});

test.each(["default", "split"] as const)(
  "in the %s profile every tool can be listed, in every mode",
  (profile) => {
    for (const mode of [undefined, "inspect", "apply", "verify", "ship"] as const) {
      const { tools } = createListing({ registry: octant.registry, profile, ...(mode && { mode }) });
      expect(tools.length).toBeGreaterThan(0);
      if (mode === "inspect")
        for (const { annotations } of tools) expect(annotations.readOnlyHint).toBe(true);
    }
  },
);
