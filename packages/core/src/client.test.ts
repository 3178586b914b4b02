import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { admin, type box, createBox } from "../testing/test-tool.ts";
import { createClient, type ToolRequest, type ToolResponse } from "./client.ts";
import { ToolError } from "./errors.ts";
import { action, type InputOf, type OutputOf } from "./tool.ts";

const client = () => createClient<typeof box>(createBox().dispatch, { caller: admin });

test("a call answers with the typed data of its action", async () => {
  const thing = await client().box.get({ id: 3, how: "far" });
  expectTypeOf(thing).toEqualTypeOf<{ id: number; how: string }>();
  expect(thing).toEqual({ id: 3, how: "far" });
  expectTypeOf((await client().box.help({})).markdown).toEqualTypeOf<string>();
});

test("a failure is thrown as the ToolError that the envelope holds", async () => {
  await expect(client().box.get({ id: -1 })).rejects.toEqual(
    new ToolError("NOT_FOUND", "there is no thing -1", { id: "-1" }),
  );
});

test("a client can be awaited without being taken for a promise", async () => {
  expect(await (await Promise.resolve(client())).box.put({})).toEqual({});
});

test("input that does not match the declaration does not compile", () => {
  type Request = ToolRequest<typeof box>;
  expectTypeOf<{ tool: "box"; action: "get"; input: { id: number } }>().toExtend<Request>();
  expectTypeOf<{ tool: "box"; action: "get"; input: { id: string } }>().not.toExtend<Request>();
  expectTypeOf<{ tool: "box"; action: "gets"; input: { id: number } }>().not.toExtend<Request>();
  expectTypeOf<{ tool: "bin"; action: "get"; input: { id: number } }>().not.toExtend<Request>();
  type Answer = Extract<ToolResponse<typeof box, { tool: "box"; action: "get" }>, { ok: true }>;
  expectTypeOf<Answer["data"]>().toEqualTypeOf<{ id: number; how: string }>();
  expectTypeOf<InputOf<typeof box, "get">>().toEqualTypeOf<{
    id: number;
    how?: "near" | "far" | undefined;
  }>();
  expectTypeOf<OutputOf<typeof box, "list">>().toEqualTypeOf<{ things: number[] }>();

  // @ts-expect-error the details do not belong to the code
  const details = () => new ToolError("CONFLICT", "x", { uri: "file:///a" });
  // @ts-expect-error no such parameter
  const parameter = () => client().box.get({ idd: 3 });
  // @ts-expect-error no such action
  const unknown = () => client().box.gett({ id: 3 });
  expect([details, parameter, unknown]).toHaveLength(3);
});

test("a declaration that contradicts itself does not compile", () => {
  const input = z.strictObject({ a: z.int() });
  const output = z.object({ b: z.int() });
  const examples = [{ title: "", input: { a: 1 } }] as const;
  const facts = { summary: "", access: "read", timing: "sync", intent: "inspect", input, output } as const;
  action({ ...facts, examples, run: ({ a }) => ({ b: a }) });
  // @ts-expect-error run returns the wrong shape
  action({ ...facts, examples, run: ({ a }) => ({ c: a }) });
  // @ts-expect-error an example must fit the input
  action({ ...facts, examples: [{ title: "", input: { c: 1 } }], run: ({ a }) => ({ b: a }) });
  // @ts-expect-error at least one example
  action({ ...facts, examples: [], run: ({ a }) => ({ b: a }) });
  // @ts-expect-error a misspelt error code
  action({ ...facts, examples, errors: ["NOTFOUND"], run: ({ a }) => ({ b: a }) });
});
