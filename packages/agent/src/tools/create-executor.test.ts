import { expect, test } from "vitest";
import { textOf } from "../messages.ts";
import { createTestTools } from "../testing/tools.ts";
import { createToolExecutor } from "./create-executor.ts";

const OPTIONS = {
  sessionId: "ses_1",
  signal: new AbortController().signal,
  ask: async () => ({ answer: "once" }) as const,
  onProgress: () => {},
};

test("own tools come first, others as far as the budget allows, the rest is found by search and then appended", async () => {
  const own = createTestTools({ fs: () => "own" });
  const further = createTestTools({
    mcp__a__one: () => "one",
    mcp__a__two: () => "two",
    mcp__b__mail: () => "sent",
  });
  const tools = createToolExecutor({ own, further: [further], budgetTokens: 75 });
  const names = () => tools.definitions().map(({ name }) => name);
  expect(names()).toEqual(["fs", "mcp__a__one", "mcp__a__two", "find_tools"]);
  const found = await tools.execute({ id: "1", name: "find_tools", input: { query: "send mail" } }, OPTIONS);
  expect(textOf(found.content)).toContain("mcp__b__mail: The tool mcp__b__mail.");
  expect(names()).toEqual(["fs", "mcp__a__one", "mcp__a__two", "find_tools", "mcp__b__mail"]);
  const sent = await tools.execute({ id: "2", name: "mcp__b__mail", input: {} }, OPTIONS);
  expect(textOf(sent.content)).toBe("sent");
});

test("every call passes the steps in their order, also a call of further tools; a step may run another call", async () => {
  const seen: string[] = [];
  const own = createTestTools({ read: ({ uri }) => `read ${String(uri)}` });
  const further = createTestTools({ mcp__a__one: () => "one" });
  const tools = createToolExecutor({
    own,
    further: [further],
    steps: [
      async (call, { reads_only }, next) => {
        seen.push(`outer ${call.name} ${reads_only}`);
        const result = await next(call);
        seen.push(`outer after ${call.name}`);
        return result;
      },
      async (call, _outline, next) => {
        seen.push(`inner ${call.name}`);
        return next({ ...call, input: { uri: "another" } });
      },
    ],
  });
  const result = await tools.execute({ id: "1", name: "read", input: { uri: "a" } }, OPTIONS);
  expect(textOf(result.content)).toBe("read another");
  await tools.execute({ id: "2", name: "mcp__a__one", input: {} }, OPTIONS);
  expect(seen).toEqual([
    "outer read true",
    "inner read",
    "outer after read",
    "outer mcp__a__one false",
    "inner mcp__a__one",
    "outer after mcp__a__one",
  ]);
});
