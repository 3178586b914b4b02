import { expect, test } from "vitest";
import { fieldsOf, toContent } from "./form-fields.ts";

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", description: "Of the branch", minLength: 2, maxLength: 40 },
    mail: { type: "string", format: "email" },
    at: { type: "string", format: "date-time" },
    count: { type: "integer", minimum: 1, maximum: 9, default: 3 },
    share: { type: "number" },
    sure: { type: "boolean" },
    size: { type: "string", oneOf: [{ const: "s", title: "Small" }, { const: "l" }] },
    old: { type: "string", enum: ["a", "b"], enumNames: ["First"] },
    parts: { type: "array", items: { anyOf: [{ const: "x", title: "The X" }, { const: "y" }] } },
  },
  required: ["name", "size"],
};

test("every kind of field that MCP allows has its control, its limits and its options", () => {
  const fields = fieldsOf(SCHEMA);
  expect(fields.map(({ name, kind, attributes }) => [name, kind, attributes])).toEqual([
    ["name", "text", { type: "text", minLength: 2, maxLength: 40 }],
    ["mail", "text", { type: "email" }],
    ["at", "text", { type: "datetime-local" }],
    ["count", "number", { type: "number", step: 1, min: 1, max: 9 }],
    ["share", "number", { type: "number", step: "any" }],
    ["sure", "boolean", {}],
    ["size", "choice", {}],
    ["old", "choice", {}],
    ["parts", "many", {}],
  ]);
  expect(fields.filter(({ required }) => required).map(({ name }) => name)).toEqual(["name", "size"]);
  expect(fields.find(({ name }) => name === "size")?.options).toEqual([
    { value: "s", label: "Small" },
    { value: "l", label: "l" },
  ]);
  expect(fields.find(({ name }) => name === "old")?.options.map(({ label }) => label)).toEqual([
    "First",
    "b",
  ]);
  expect(fields.find(({ name }) => name === "parts")?.options.map(({ label }) => label)).toEqual([
    "The X",
    "y",
  ]);
});

test("values have the types of the schema, and empty ones are left out", () => {
  const at = "2026-11-18T10:30";
  const values = { name: "main", mail: "", at, count: "4", share: "0.5", size: "s", parts: ["x"] };
  expect(toContent(fieldsOf(SCHEMA), values)).toEqual({
    name: "main",
    at: new Date(at).toISOString(),
    count: 4,
    share: 0.5,
    sure: false,
    size: "s",
    parts: ["x"],
  });
});

test("a schema that is not one has no fields, and a pattern never reaches the browser", () => {
  expect(fieldsOf(undefined)).toEqual([]);
  expect(fieldsOf({ properties: { a: null } })).toMatchObject([{ name: "a", kind: "text" }]);
  expect(fieldsOf({ properties: { a: { type: "string", pattern: "(a+)+$" } } })[0]?.attributes).toEqual({
    type: "text",
  });
});
