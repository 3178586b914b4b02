import { action, defineTool } from "@octant/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { chooseNames, withoutDisabled } from "./tool-choice.ts";

const OFFERED = ["ws", "fs", "store"];
const GROUPS = { core: ["ws", "fs"], store: ["store"] };
const choose = (choice: Parameters<typeof chooseNames>[0]) => chooseNames(choice, OFFERED, GROUPS);

const act = action({
  summary: "Does nothing.",
  access: "read",
  timing: "sync",
  intent: "inspect",
  input: z.strictObject({}),
  output: z.null(),
  examples: [{ title: "Nothing", input: {} }],
  run: () => null,
});
const tools = [
  defineTool({ name: "ws", summary: "One.", actions: { look: act } }),
  defineTool({ name: "fs", summary: "Two.", actions: { read: act, write: act } }),
];

test("the default is the core tools", () => {
  expect(choose({})).toEqual(["ws", "fs"]);
});

test("groups are combined, in listing order", () => {
  expect(choose({ toolConfig: { enable: ["store", "core"] } })).toEqual(["ws", "fs", "store"]);
});

test("named tools are exactly those, in listing order", () => {
  expect(choose({ tools: ["store", "ws"] })).toEqual(["ws", "store"]);
});

test("a tool or a single action can be switched off", () => {
  const left = withoutDisabled(tools, ["ws", "fs.write"]);
  expect(left.map(({ name, actions }) => [name, Object.keys(actions)])).toEqual([["fs", ["read"]]]);
});

test("an unknown name is a TypeError that lists the valid ones", () => {
  expect(() => choose({ tools: ["foo"] })).toThrow("there is no tool 'foo'; choose from: ws, fs, store");
  expect(() => choose({ toolConfig: { enable: ["foo"] } })).toThrow(TypeError);
  expect(() => withoutDisabled(tools, ["fs.foo"])).toThrow("choose from: ws, ws.look, fs, fs.read, fs.write");
});
