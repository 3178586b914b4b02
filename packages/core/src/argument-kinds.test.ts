import { expect, test } from "vitest";
import { z } from "zod";
import { kindOfArgument, ofKind } from "./argument-kinds.ts";
import { Uri } from "./ids.ts";

test("a schema keeps its declared content when it is described or refined, without changing the original", () => {
  const text = z.string();
  const command = ofKind("command", text).describe("To run").max(9);
  expect([kindOfArgument(command), kindOfArgument(text)]).toEqual(["command", undefined]);
  expect([kindOfArgument(ofKind("tree", Uri)), kindOfArgument(Uri)]).toEqual(["tree", "path"]);
});

test("it shows in no JSON Schema, and the description stays", () => {
  const schema = z.object({
    a: ofKind("tree", Uri),
    b: ofKind("command", z.string().describe("To run").optional()),
  });
  expect(z.toJSONSchema(schema, { io: "input" }).properties).toEqual({
    a: { type: "string", minLength: 1, maxLength: 16_384, description: "URI or path" },
    b: { type: "string", description: "To run" },
  });
});
