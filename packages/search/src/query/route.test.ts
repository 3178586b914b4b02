import { expect, test } from "vitest";
import type { Strategy } from "./hit.ts";
import { routeOf, unmetBy } from "./route.ts";

test.each([
  ["where is parseHeader defined?", { asks: "definition", name: "parseHeader" }],
  ["Where is the function `parse_header` declared", { asks: "definition", name: "parse_header" }],
  ["definition of createOctant", { asks: "definition", name: "createOctant" }],
  ["who implements MockMaker?", { asks: "subtypes", name: "MockMaker" }],
  ["classes that extend the class Base", { asks: "subtypes", name: "Base" }],
  ["subclasses of errors.Base", { asks: "subtypes", name: "errors.Base" }],
  ["who calls openFile?", { asks: "callers", name: "openFile" }],
  ["callers of Foo.bar", { asks: "callers", name: "Foo.bar" }],
  ["where is retry() used", { asks: "callers", name: "retry" }],
  ["who calls save!?", { asks: "callers", name: "save!" }],
  ["where is ok? defined", { asks: "definition", name: "ok?" }],
  ["callers of `ok?`", { asks: "callers", name: "ok?" }],
  ["save!", { asks: "symbol", name: "save!" }],
  ["User#ok?", { asks: "symbol", name: "User#ok?" }],
  ["parseHeader", { asks: "symbol", name: "parseHeader" }],
  ["std::vector", { asks: "symbol", name: "std::vector" }],
  ["Foo.bar", { asks: "symbol", name: "Foo.bar" }],
  ["src/http/header.ts", { asks: "file", pattern: "src/http/header.ts" }],
  ["*.test.ts", { asks: "file", pattern: "*.test.ts" }],
  ["package.json", { asks: "file", pattern: "package.json" }],
  ["class $A extends Base", { asks: "code", text: "class $A extends Base" }],
  ["async function $F($$$A)", { asks: "code", text: "async function $F($$$A)" }],
  ["if (err != nil)", { asks: "code", text: "if (err != nil)" }],
  ["class Foo", { asks: "definition", name: "Foo", kinds: expect.arrayContaining(["class", "struct"]) }],
  ["method run", { asks: "definition", name: "run", kinds: expect.arrayContaining(["method"]) }],
  ["struct Engine", { asks: "definition", name: "Engine", kinds: expect.arrayContaining(["struct"]) }],
  ["def parse_header(", { asks: "code", text: "def parse_header(" }],
  ["Class for handling uploads", { asks: "meaning", text: "Class for handling uploads" }],
  [
    "function that splits a line (at the colon)",
    { asks: "meaning", text: "function that splits a line (at the colon)" },
  ],
  [
    "Returns the first value or None (the default)",
    { asks: "meaning", text: "Returns the first value or None (the default)" },
  ],
  ["how are sessions refreshed", { asks: "meaning", text: "how are sessions refreshed" }],
  ["where is authentication handled", { asks: "meaning", text: "where is authentication handled" }],
])("%j is routed to %j", (query, route) => {
  expect(routeOf(query)).toEqual(route);
});

test("an answer states that nothing has the name in the question", () => {
  const hit = (symbol: string, strategy: Strategy) => ({ symbol, why: [{ strategy, rank: 1 }] });
  const unmet = (query: string, ...hits: ReturnType<typeof hit>[]) => unmetBy(routeOf(query), hits);
  expect(unmet("where is reed defined", hit("Reader.read", "symbol"))).toContain(
    "nothing here is named 'reed'",
  );
  expect(unmet("who calls reed", hit("Reader.read", "text"))).toContain("nothing here is named 'reed'");
  expect(unmet("who calls read", hit("Reader.read~2", "symbol"))).toContain("nothing calls or uses 'read'");
  expect(unmet("who calls read", hit("main", "callers"))).toBeUndefined();
  expect(unmet("Reader.read", hit("Reader.read", "symbol"))).toBeUndefined();
  expect(unmet("how is it read", hit("Reader.read", "text"))).toBeUndefined();
});
