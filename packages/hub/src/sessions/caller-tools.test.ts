import { expect, test } from "vitest";
import { checkCallerTools } from "./caller-tools.ts";

const tool = (name: string, properties: object) => ({
  ...{ name, description: "A tool.", timeout_s: 1 },
  input_schema: { type: "object" as const, properties },
});

test("tools that a session can offer are accepted", () => {
  checkCallerTools([]);
  checkCallerTools([
    tool("lookup", { city: { type: "string" } }),
    tool("store", { city: { type: "string" }, note: { type: ["string", "null"] } }),
  ]);
});

test.each([
  ["a schema that is not one", [tool("a", { x: { type: "nonsense" } })], "is not a JSON Schema of an object"],
  ["two tools of one name", [tool("a", {}), tool("a", {})], "two tools are called 'a'; rename one"],
  ["a parameter called action", [tool("a", { action: {} })], "no parameter can be called 'action'"],
  [
    "a list of texts here that is a list of numbers there",
    [
      tool("a", { x: { type: "array", items: { type: "string" } } }),
      tool("b", { x: { type: "array", items: { type: "integer" } } }),
    ],
    "means one thing in a and another in b; rename one",
  ],
])("%s is refused before a session starts", (_what, tools, message) => {
  expect(() => checkCallerTools(tools)).toThrow(
    expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringContaining(message) }),
  );
});
