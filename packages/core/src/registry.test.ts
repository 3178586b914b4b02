import { expect, test } from "vitest";
import { admin, box, createBox } from "../testing/test-tool.ts";
import { ANSWER_BYTES } from "./budget.ts";

test("tools can be added and removed while the server runs, and listeners are notified", async () => {
  const { registry, dispatch } = createBox();
  let changes = 0;
  const stop = registry.changes.listen(() => changes++);
  registry.addTool({ ...box, name: "crate" });
  const call = { tool: "crate", action: "get", input: { id: 1 } };
  expect((await dispatch(call, { caller: admin })).envelope.ok).toBe(true);
  expect(registry.removeTool("crate")).toBe(true);
  expect(registry.removeTool("crate")).toBe(false);
  expect((await dispatch(call, { caller: admin })).envelope.error?.code).toBe("UNKNOWN_TOOL");
  expect(changes).toBe(2);
  stop();
  registry.addTool({ ...box, name: "crate" });
  expect(changes).toBe(2);
});

test("a tool added for its first use is created once, when it is called or listed", async () => {
  const { registry, dispatch } = createBox();
  let created = 0;
  registry.addToolOnUse("crate", () => {
    created++;
    return { ...box, name: "crate" };
  });
  const call = (tool: string) => dispatch({ tool, action: "get", input: { id: 1 } }, { caller: admin });
  expect((await call("box")).envelope.ok).toBe(true);
  expect(registry.names()).toEqual(["box", "crate"]);
  expect(created).toBe(0);
  expect((await call("crate")).envelope.ok).toBe(true);
  expect(registry.list().map(({ name }) => name)).toEqual(["box", "crate"]);
  expect(created).toBe(1);
  expect(() => registry.addTool({ ...box, name: "crate" })).toThrow("already");
});

test("a name taken or malformed is refused", () => {
  const { registry } = createBox();
  expect(() => registry.addTool(box)).toThrow("already");
  for (const name of ["", "Box", "a-b", "a.b", "mcp__x y", "x".repeat(49)]) {
    expect(() => registry.addTool({ ...box, name })).toThrow("invalid tool name");
  }
});

test("every tool answers help, schema and status", async () => {
  const { call } = createBox();
  const help = (await call("help")).data as { markdown: string };
  expect(help.markdown).toContain("# box");
  for (const word of [
    "## box.get",
    "Look at one thing.",
    "`how?`",
    "`near`, `far`",
    '(default "near")',
    "NOT_FOUND",
    '{"action":"get","id":1}',
  ])
    expect(help.markdown).toContain(word);
  const one = (await call("help", { about: "put" })).data as { markdown: string };
  expect(one.markdown).toContain("## box.put");
  expect(one.markdown).not.toContain("box.get");

  const schema = (await call("schema")).data as {
    actions: Record<string, { input: unknown; output: unknown }>;
  };
  expect(Object.keys(schema.actions)).toEqual(["get", "list", "put", "burn", "help", "schema", "status"]);
  expect(schema.actions["get"]?.input).toMatchObject({
    type: "object",
    required: ["id"],
    additionalProperties: false,
  });
  expect(schema.actions["get"]?.output).toMatchObject({
    properties: { ok: { type: "boolean" }, meta: { type: "object" } },
  });

  expect((await call("status")).data).toEqual({
    enabled: true,
    version: "1.2.3",
    backends: [{ name: "wood", available: true, version: "7" }],
  });
  expect((await call("help", { about: "nope" })).error?.code).toBe("UNKNOWN_ACTION");
});

test("the schemas of a big tool come in pages within the budget", async () => {
  const { registry, dispatch } = createBox();
  const many = Array.from({ length: 60 }, (_, at) => [`get_${at}`, box.actions.get]);
  registry.addTool({ ...box, name: "big", actions: Object.fromEntries(many) });
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const input = cursor === undefined ? {} : { cursor };
    const { envelope } = await dispatch({ tool: "big", action: "schema", input }, { caller: admin });
    expect(Buffer.byteLength(JSON.stringify(envelope))).toBeLessThan(ANSWER_BYTES);
    seen.push(...Object.keys((envelope.data as { actions: object }).actions));
    cursor = envelope.meta.paging.cursor;
  }
  expect(seen).toEqual(Object.keys(registry.get("big")?.actions ?? {}));
});

test("a tool's own status wins over the built-in", async () => {
  const { registry, dispatch } = createBox();
  registry.addTool({ ...box, name: "own", actions: { status: box.actions.get } });
  const reply = await dispatch({ tool: "own", action: "status", input: { id: 3 } }, { caller: admin });
  expect(reply.envelope.data).toEqual({ id: 3, how: "near" });
});
