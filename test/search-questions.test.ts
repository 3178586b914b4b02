// Questions as a coding agent asks them, over MCP stdio, on the defaults, with an empty state.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { type McpSession, startSession } from "./mcp-session.ts";

const FILES: Readonly<Record<string, string>> = {
  "src/boiler.ts": `export class Boiler {
  /** Raises the water temperature. */
  heatWater(kettle: Kettle) {
    if (kettle.isEmpty) throw new Error("the kettle is dry");
    return kettle.heatUntil(100);
  }
}
`,
  "src/kitchen.ts": `import { Boiler } from "./boiler.ts";
export function makeTea(kettle: Kettle) {
  return new Boiler().heatWater(kettle);
}
`,
  "src/a_test_utils.ts": "export const boil = (b: Boiler, k: Kettle) => b.heatWater(k);\n",
  "tests/boiler_test.ts": `export function testBoiler(kettle: Kettle) {
  expect(() => new Boiler().heatWater(kettle)).toThrow("the kettle is dry");
}
`,
  "docs/tea.md": "# Tea\n\nIt fails with: the kettle is dry. Then call heatWater.\n",
};

const project = createFixtureProject();
let session: McpSession;

beforeAll(async () => {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(project.root, path)), { recursive: true });
    writeFileSync(join(project.root, path), text);
  }
  session = await startSession([], { cwd: project.root, env: project.env });
});

afterAll(async () => {
  await session[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

interface Data {
  readonly hits: readonly { readonly uri: string; readonly symbol_id: string | null }[];
  readonly unmet?: string;
}

async function ask(query: string, more: object = {}) {
  const { data, error } = await session.call("search", { action: "query", query, ...more });
  expect(error).toBeNull();
  const { hits, unmet } = data as unknown as Data;
  const places = hits.map(
    ({ uri, symbol_id }) => symbol_id?.slice("sym:".length) ?? uri.replace(/.*\/(?=docs\/)/, ""),
  );
  return { places, unmet };
}

test.each([
  ["how is the water heated", "src/boiler.ts#Boiler.heatWater"],
  ["heatWater", "src/boiler.ts#Boiler.heatWater"],
  ["HEATWATER", "src/boiler.ts#Boiler.heatWater"],
  ["Boiler.heatWater", "src/boiler.ts#Boiler.heatWater"],
  ["boiler.heatWater", "src/boiler.ts#Boiler.heatWater"],
  ["heatWatre", "src/boiler.ts#Boiler.heatWater"],
  ["method heatWater", "src/boiler.ts#Boiler.heatWater"],
  ["where is makeTea defined?", "src/kitchen.ts#makeTea"],
  ['"the kettle is dry"', "src/boiler.ts#Boiler.heatWater"],
  ["the kettle is dry", "src/boiler.ts#Boiler.heatWater"],
  ["tests for the boiler", "tests/boiler_test.ts#testBoiler"],
])("%s is answered by %s", async (query, place) => {
  expect((await ask(query)).places[0]).toBe(place);
});

test("callers in code come before callers in tests and test helpers", async () => {
  const { places, unmet } = await ask("who calls heatWater?");
  expect(places).toEqual([
    "src/kitchen.ts#makeTea",
    "src/a_test_utils.ts#boil",
    "tests/boiler_test.ts#testBoiler",
  ]);
  expect(unmet).toBeUndefined();
});

test("a name that does not exist is reported, and the closest one is returned", async () => {
  // Only a complete index can tell.
  await expect
    .poll(async () => (await ask("where is heatWatre defined")).unmet, { timeout: 40_000, interval: 250 })
    .toBe("nothing here is named 'heatWatre'");
  expect((await ask("where is heatWatre defined")).places[0]).toBe("src/boiler.ts#Boiler.heatWater");
});

test("a file changed while the server runs ranks by its new text", async () => {
  await session.call("search", { action: "query", query: "tea" });
  writeFileSync(
    join(project.root, "src/oven.ts"),
    "export function bakeBread(dough: Dough) {\n  return dough.rise().putIntoOven(220);\n}\n",
  );
  await expect
    .poll(async () => (await ask("bake bread in the oven")).places[0], { timeout: 40_000, interval: 250 })
    .toBe("src/oven.ts#bakeBread");
});

test("a hit in a file that has just changed or gone is not shown as it was", async () => {
  const file = join(project.root, "src/fridge.ts");
  writeFileSync(file, "export function coolMilk(milk: Milk) {\n  return milk.coolDown(4);\n}\n");
  expect((await ask("coolMilk")).places).toEqual(["src/fridge.ts#coolMilk"]);
  writeFileSync(file, "\n\nexport function coolCream(cream: Cream) {\n  return cream.coolDown(4);\n}\n");
  expect((await ask("coolMilk")).places).not.toContain("src/fridge.ts#coolMilk");
  expect((await ask("coolCream")).places).toEqual(["src/fridge.ts#coolCream"]);
  rmSync(file);
  expect((await ask("coolCream")).places).not.toContain("src/fridge.ts#coolCream");
});

test("modality ast takes a shape, and says how to write one when it gets a description", async () => {
  expect((await ask("new Boiler().heatWater($K)", { modality: "ast" })).places).toContain(
    "src/kitchen.ts#makeTea",
  );
  const { error } = await session.call("search", {
    action: "query",
    modality: "ast",
    query: "functions that heat some water",
  });
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining("$NAME") });
});
