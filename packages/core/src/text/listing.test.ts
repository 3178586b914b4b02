import { expect, test } from "vitest";
import { z } from "zod";
import { fs, ws } from "../../testing/text/declarations.ts";
import { createRegistry } from "../registry.ts";
import { action, defineTool, type Tool } from "../tool.ts";
import { createListing } from "./listing.ts";
import { type Offer, PROFILES } from "./profiles.ts";

const MAX_LISTING_CHARS = 4_000;
// Gemini rejects longer ones.
const MAX_DESCRIPTION_CHARS = 1_024;
const registry = createRegistry([ws, fs]);
const listed = (name: string, options = {}) => {
  const tool = createListing({ registry, ...options }).tools.find((one) => one.name === name);
  if (!tool) throw new Error(`${name} is not listed`);
  return tool;
};
const propertyOf = (tool: ReturnType<typeof listed>, name: string) =>
  (tool.inputSchema["properties"] as Record<string, Record<string, unknown>>)[name];

test("ws and fs together stay within the listing's budget", () => {
  const { tools } = createListing({ registry });
  expect(JSON.stringify(tools).length).toBeLessThanOrEqual(MAX_LISTING_CHARS);
  for (const { description } of tools) expect(description.length).toBeLessThanOrEqual(MAX_DESCRIPTION_CHARS);
});

test("a tool is one entry whose action is a required enum with the built-ins, in the registry's order", () => {
  expect(createListing({ registry }).tools.map(({ name }) => name)).toEqual(["ws", "fs"]);
  const { inputSchema } = listed("fs");
  expect(inputSchema["required"]).toEqual(["action"]);
  expect(propertyOf(listed("fs"), "action")?.["enum"]).toEqual([
    ...Object.keys(fs.actions),
    "help",
    "schema",
    "status",
  ]);
});

test("the lazy profile lists names and one line each, and accepts any parameter", () => {
  const { tools } = createListing({ registry, profile: "lazy" });
  expect(tools.map(({ name }) => name)).toEqual(["ws", "fs"]);
  // 1,200 tokens for eight tools.
  expect(JSON.stringify(tools).length).toBeLessThanOrEqual((1_200 * 4 * 2) / 8);
  const tool = listed("fs", { profile: "lazy" });
  expect(tool.description).toMatch(/^[^\n]+ help and schema\.$/);
  expect(tool.inputSchema).toEqual({
    type: "object",
    properties: {
      action: { type: "string", enum: [...Object.keys(fs.actions), "help", "schema", "status"] },
    },
    required: ["action"],
    additionalProperties: true,
  });
  expect(tool.annotations).toEqual(listed("fs").annotations);
  expect(createListing({ registry, profile: "lazy" }).toCall("fs", { action: "read", uri: "a" })).toEqual({
    tool: "fs",
    action: "read",
    input: { uri: "a" },
  });
});

test("text answers promise no structured content", () => {
  for (const { outputSchema } of createListing({ registry, answers: "text" }).tools)
    expect(outputSchema).toBeUndefined();
});

test("a custom profile names entries and provides their schemas for the actions allowed by the mode", () => {
  const profile = (tool: Tool): Offer[] =>
    Object.keys(tool.actions).map((action) => ({
      tool: tool.name,
      action,
      mayBeTask: false,
      listed: {
        name: `${action}-of-${tool.name}`,
        description: "Mine.",
        inputSchema: { type: "object", properties: { a: { type: "string" } } },
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
    }));
  const listing = createListing({ registry, profile, mode: "inspect" });
  expect(listing.toCall("read-of-fs", { uri: "a" })).toEqual({
    tool: "fs",
    action: "read",
    input: { uri: "a" },
  });
  expect(listing.toCall("write-of-fs", {})).toBeUndefined();
});

test("no profile lists a root union, a reference or a dialect, and each has properties", () => {
  for (const profile of PROFILES) {
    const { tools } = createListing({ registry, profile });
    expect(JSON.stringify(tools)).not.toMatch(/"\$ref"|"\$schema"|"\$defs"/);
    for (const { inputSchema, outputSchema } of tools) {
      expect(inputSchema).toMatchObject({ type: "object", properties: expect.any(Object) });
      expect(Object.keys(inputSchema).filter((key) => /^(one|any|all)Of$/.test(key))).toEqual([]);
      expect(JSON.stringify(outputSchema ?? {}).length).toBeLessThan(200);
    }
  }
});

test("a parameter has its type and the outline of what is inside; several meanings name their actions", () => {
  const tool = listed("fs");
  expect(propertyOf(tool, "depth")).toEqual({ type: "integer", description: "How many levels down" });
  expect(propertyOf(tool, "kind")).toEqual({ type: "string", enum: ["file", "directory", "link"] });
  expect(propertyOf(tool, "pattern")).toEqual({
    type: "string",
    description: "list: Glob on the path; search_text: Regular expression",
  });
  expect(propertyOf(tool, "uri")).toMatchObject({ type: ["string", "array"], items: { type: "string" } });
  expect(propertyOf(tool, "range")?.["description"]).toMatch(/\{start:\{line,col\?\},end:\{line,col\?\}\}$/);
  expect(propertyOf(tool, "patch")?.["description"]).toContain('{op:"replace",old,new,count?}');
  expect(propertyOf(tool, "confirm")).toMatchObject({ type: "boolean" });
  expect(propertyOf(tool, "encoding")?.["enum"]).toEqual(["utf-8", "base64", "auto"]);
});

test("the description has the signature of every action", () => {
  expect(listed("fs").description).toContain(
    "read(uri,range?,encoding?,max_bytes?) write(uri,content,encoding?)",
  );
});

test("mode inspect keeps the names, lists only reading actions and is really read-only", () => {
  const { tools } = createListing({ registry, mode: "inspect" });
  expect(tools.map(({ name }) => name)).toEqual(["ws", "fs"]);
  const tool = listed("fs", { mode: "inspect" });
  expect(propertyOf(tool, "action")?.["enum"]).toEqual([
    ..."read stat list search_text diff help schema status".split(" "),
  ]);
  expect(propertyOf(tool, "content")).toBeUndefined();
  expect(tool.annotations).toMatchObject({ readOnlyHint: true });
  expect(tool.annotations).not.toHaveProperty("destructiveHint");
  expect(listed("fs").annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
});

test("the split profile lists one strict tool per action with its own hints", () => {
  const tool = listed("fs_read", { profile: "split" });
  expect(tool.inputSchema).toMatchObject({ required: ["uri"], additionalProperties: false });
  expect(propertyOf(tool, "max_bytes")).toMatchObject({ minimum: 1, default: 32_768 });
  expect(tool.annotations.readOnlyHint).toBe(true);
  expect(listed("fs_apply_patch", { profile: "split" }).annotations.readOnlyHint).toBe(false);
  const inspected = createListing({ registry, profile: "split", mode: "inspect" });
  expect(inspected.tools.map(({ name }) => name)).not.toContain("fs_write");
});

test("a listed name leads back to its action", () => {
  expect(createListing({ registry }).toCall("fs", { action: "read", uri: "a" })).toEqual({
    tool: "fs",
    action: "read",
    input: { uri: "a" },
  });
  const split = createListing({ registry, profile: "split" });
  expect(split.toCall("fs_read", { uri: "a" })).toEqual({ tool: "fs", action: "read", input: { uri: "a" } });
  expect(split.toCall("fs", {})).toBeUndefined();
  expect(split.toCall("constructor", {})).toBeUndefined();
});

const reading = (input: z.ZodObject) =>
  action({
    summary: "Reads.",
    access: "read",
    timing: "sync",
    intent: "inspect",
    input,
    output: z.object({}),
    openWorld: true,
    examples: [{ title: "Reads", input: {} }],
    run: () => ({}),
  });
const toolOf = (a: z.ZodType, b: z.ZodType): Tool =>
  defineTool({
    name: "demo",
    summary: "Demo.",
    actions: { first: reading(z.strictObject({ it: a })), second: reading(z.strictObject({ it: b })) },
  });
const mergedType = (a: z.ZodType, b: z.ZodType) => {
  const [tool] = createListing({ registry: createRegistry([toolOf(a, b)]) }).tools;
  return (tool!.inputSchema["properties"] as Record<string, unknown>)["it"];
};

test("simple types of one name become a list of types", () => {
  expect(mergedType(z.string(), z.int())).toMatchObject({ type: ["string", "integer"] });
  expect(mergedType(z.int(), z.number())).toMatchObject({ type: "number" });
  expect(mergedType(z.enum(["a"]), z.enum(["b"]))).toMatchObject({ enum: ["a", "b"] });
  expect(mergedType(z.enum(["a"]), z.string())).not.toHaveProperty("enum");
  expect(mergedType(z.string().nullable(), z.string())).toMatchObject({ type: ["string", "null"] });
  expect(mergedType(z.unknown(), z.string())).not.toHaveProperty("type");
});

test("one name with two meanings is refused when the listing is built", () => {
  const objects = () => mergedType(z.object({ a: z.string() }), z.object({ b: z.string() }));
  expect(objects).toThrow(
    new TypeError("demo: parameter 'it' means one thing in first and another in second; rename one"),
  );
  expect(() => mergedType(z.array(z.string()), z.array(z.int()))).toThrow(TypeError);
});

test("a parameter called action is refused: the name is reserved", () => {
  const own = defineTool({
    name: "demo",
    summary: "Demo.",
    actions: { act: reading(z.strictObject({ action: z.string() })) },
  });
  expect(() => createListing({ registry: createRegistry([own]) })).toThrow(
    "no parameter can be called 'action'",
  );
});

test("two actions that would share a split name are refused", () => {
  const named = (name: string, act: string) =>
    defineTool({ name, summary: "Demo.", actions: { [act]: reading(z.strictObject({})) } });
  const clash = createRegistry([named("a_b", "c"), named("a", "b_c")]);
  expect(() => createListing({ registry: clash, profile: "split" })).toThrow("'a_b_c' would be listed twice");
});

test("an action that reaches beyond the machine makes its tool open-world", () => {
  const [tool] = createListing({ registry: createRegistry([toolOf(z.string(), z.string())]) }).tools;
  expect(tool?.annotations.openWorldHint).toBe(true);
  expect(listed("fs").annotations.openWorldHint).toBe(false);
});

test("a recursive schema is listed without references", () => {
  const Tree = z.object({
    get kids() {
      return z.array(Tree);
    },
  });
  const { tools } = createListing({ registry: createRegistry([toolOf(Tree, Tree)]), profile: "split" });
  expect(JSON.stringify(tools)).not.toContain("$ref");
});
