import { createRegistry, defineTool, type RefReader } from "@octant/core";
import { expect, test } from "vitest";
import { serveToolRefs } from "./tool-refs.ts";

const NOTE = "note";
const withRefs = (name: string, scheme: string) =>
  defineTool({ name, summary: "Refs.", actions: {}, refs: { [scheme]: () => Buffer.from(name) } });

function open() {
  const registry = createRegistry([]);
  const lines: string[] = [];
  let find: (scheme: string) => RefReader | undefined = () => undefined;
  const findRefReaders = (given: typeof find) => {
    find = given;
  };
  serveToolRefs(registry, { findRefReaders }, (line) => lines.push(line));
  return { registry, lines, read: (scheme: string) => find(scheme)?.(`${scheme}:1`, "local")?.toString() };
}

test("refs are served while their tool is there, and by the first of two tools", () => {
  const { registry, lines, read } = open();
  expect(read(NOTE)).toBeUndefined();
  registry.addTool(withRefs("one", NOTE));
  registry.addToolOnUse("two", () => withRefs("two", NOTE));
  expect(read(NOTE)).toBe("one");
  expect(lines).toEqual(["tool two cannot serve note: refs, because one does"]);
  registry.removeTool("one");
  expect(read(NOTE)).toBe("two");
  expect(read("toString")).toBeUndefined();
});
