import { expect, test } from "vitest";
import { textOf } from "../messages.ts";
import { createTestTools } from "../testing/tools.ts";
import { combineExecutors } from "./combined-executor.ts";

const OPTIONS = {
  sessionId: "ses_1",
  signal: new AbortController().signal,
  prompter: { requestPermission: async () => ({ answer: "once" }) as const },
  onProgress: () => {},
};

test("own tools come first, others as far as the budget allows, the rest is found by search and then appended", async () => {
  const own = createTestTools({ fs: () => "own" });
  const further = createTestTools({
    mcp__a__one: () => "one",
    mcp__a__two: () => "two",
    mcp__b__mail: () => "sent",
  });
  const tools = combineExecutors({ own, further: [further], budgetTokens: 75 });
  const names = () => tools.definitions().map(({ name }) => name);
  expect(names()).toEqual(["fs", "mcp__a__one", "mcp__a__two", "find_tools"]);
  const found = await tools.execute({ id: "1", name: "find_tools", input: { query: "send mail" } }, OPTIONS);
  expect(textOf(found.content)).toContain("mcp__b__mail: The tool mcp__b__mail.");
  expect(names()).toEqual(["fs", "mcp__a__one", "mcp__a__two", "find_tools", "mcp__b__mail"]);
  const sent = await tools.execute({ id: "2", name: "mcp__b__mail", input: {} }, OPTIONS);
  expect(textOf(sent.content)).toBe("sent");
});
