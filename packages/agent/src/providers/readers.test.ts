import { expect, test } from "vitest";
import { textOf } from "../messages.ts";
import { anthropicMessages } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import type { Api } from "./http-client.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";

function read(api: Api, events: readonly unknown[]) {
  const reader = api.createReader("test");
  const isOver = events.at(-1) === "[DONE]";
  for (const event of events) if (event !== "[DONE]") [...reader.read(event)];
  const done = reader.finish(isOver);
  if (!done) throw new Error("not done");
  const calls = done.content.flatMap((part) =>
    part.type === "tool_call" ? [{ name: part.name, arguments: part.arguments }] : [],
  );
  return {
    ...done,
    calls,
    ids: done.content.flatMap((part) => (part.type === "tool_call" ? part.id : [])),
  };
}

const chatCalls = (...deltas: readonly unknown[]) => [
  ...deltas.map((tool_calls) => ({ choices: [{ delta: { tool_calls: [tool_calls].flat() } }] })),
  { choices: [{ delta: {}, finish_reason: "stop" }] },
];
const TWO_CALLS = [
  { name: "a", arguments: '{"x":1}' },
  { name: "b", arguments: '{"y":2}' },
];

test.each([
  [
    "whole calls without index and type",
    [
      [
        { id: "1", function: { name: "a", arguments: '{"x":1}' } },
        { id: "2", function: { name: "b", arguments: '{"y":2}' } },
      ],
    ],
  ],
  [
    "parallel calls that all have the index 0",
    [
      { index: 0, id: "1", function: { name: "a", arguments: '{"x":1}' } },
      { index: 0, id: "2", function: { name: "b", arguments: '{"y":2}' } },
    ],
  ],
  [
    "the index 0 again, without ids",
    [
      { index: 0, function: { name: "a", arguments: '{"x":' } },
      { index: 0, function: { arguments: "1}" } },
      { index: 0, function: { name: "b", arguments: '{"y":2}' } },
    ],
  ],
  [
    "the name repeated as an empty text and no id later",
    [
      { index: 0, id: "1", function: { name: "a", arguments: "" } },
      { index: 0, function: { name: "", arguments: '{"x"' } },
      { function: { name: "", arguments: ":1}" }, index: 0 },
      { index: 1, id: "2", function: { name: "b", arguments: '{"y":2}' } },
    ],
  ],
  [
    "arguments as objects",
    [
      { id: "1", function: { name: "a", arguments: { x: 1 } } },
      { id: "2", function: { name: "b", arguments: { y: 2 } } },
    ],
  ],
  [
    "calls that grow in turns",
    [
      { index: 0, id: "1", function: { name: "a", arguments: '{"x":' } },
      { index: 1, id: "2", function: { name: "b", arguments: '{"y":' } },
      { index: 0, function: { arguments: "1}" } },
      { index: 1, function: { arguments: "2}" } },
    ],
  ],
])("chat: two calls are found in %s, and run although the server says stop", (_what, deltas) => {
  const { calls, ids, stop } = read(openaiChat, chatCalls(...deltas));
  expect(calls).toEqual(TWO_CALLS);
  expect(new Set(ids).size).toBe(2);
  expect(stop).toBe("tool_calls");
});

test("chat: a first chunk without choices, reasoning under either name, and usage at the end are understood", () => {
  const { content, usage } = read(openaiChat, [
    { choices: [], prompt_filter_results: [] },
    { choices: [{ delta: { reasoning: "Hm." } }] },
    { choices: [{ delta: { content: "Hi" }, finish_reason: "stop" }] },
    { choices: [], usage: { prompt_tokens: 10, completion_tokens: 2, prompt_cache_hit_tokens: 4 } },
    "[DONE]",
  ]);
  expect(content).toEqual([
    { type: "thinking", text: "Hm.", native: { api: "openai-chat", data: { reasoning: "Hm." } } },
    { type: "text", text: "Hi" },
  ]);
  expect(usage).toMatchObject({ input_tokens: 6, cache_read_tokens: 4, output_tokens: 2 });
});

test("anthropic: unknown blocks, a second message_start and a call without arguments are tolerated", () => {
  const { calls, content, usage } = read(anthropicMessages, [
    { type: "message_start", message: { usage: { input_tokens: 9, output_tokens: 1 } } },
    { type: "message_start", message: { usage: { input_tokens: 9, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "mystery", secret: 1 } },
    { type: "content_block_delta", index: 0, delta: { type: "mystery_delta" } },
    { type: "content_block_start", index: 1, content_block: { type: "redacted_thinking", data: "xyz" } },
    {
      type: "content_block_start",
      index: 2,
      content_block: { type: "tool_use", id: "t", name: "ws", input: {} },
    },
    { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: "" } },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 30 } },
    { type: "message_stop" },
  ]);
  expect(calls).toEqual([{ name: "ws", arguments: "" }]);
  expect(content[0]).toMatchObject({ native: { data: { type: "redacted_thinking", data: "xyz" } } });
  expect(usage).toMatchObject({ input_tokens: 9, output_tokens: 30 });
});

test("responses: ids that change between the events of an item do not split it", () => {
  const item = { type: "function_call", call_id: "c1", name: "fs" };
  const { calls, stop } = read(openaiResponses, [
    { type: "response.output_item.added", output_index: 0, item: { ...item, id: "one", arguments: "" } },
    { type: "response.function_call_arguments.delta", output_index: 0, item_id: "two", delta: '{"a"' },
    { type: "response.mystery", output_index: 0 },
    {
      type: "response.output_item.done",
      output_index: 0,
      item: { ...item, id: "three", arguments: '{"a":1}' },
    },
    { type: "response.completed", response: { usage: { input_tokens: 5, output_tokens: 3 } } },
  ]);
  expect(calls).toEqual([{ name: "fs", arguments: '{"a":1}' }]);
  expect(stop).toBe("tool_calls");
});

test("gemini: a call in pieces is assembled, and its signature is kept", () => {
  const parts = (...list: readonly unknown[]) => ({ candidates: [{ content: { parts: list } }] });
  const call = (piece: unknown) => parts({ functionCall: piece });
  const { calls, content } = read(gemini, [
    parts({ text: "Let me see.", thought: true }, { text: "So" }),
    parts({ functionCall: { name: "fs", willContinue: true }, thoughtSignature: "sig" }),
    call({ willContinue: true, partialArgs: [{ jsonPath: "$.uri", stringValue: "a", willContinue: true }] }),
    call({ willContinue: true, partialArgs: [{ jsonPath: "$.uri", stringValue: "bc" }] }),
    call({ willContinue: true, partialArgs: [{ jsonPath: "$.edits[0].line", numberValue: 3 }] }),
    call({ willContinue: true, partialArgs: [{ jsonPath: "$.__proto__.polluted", boolValue: true }] }),
    call({}),
    { candidates: [{ finishReason: "STOP" }] },
  ]);
  expect(calls).toEqual([{ name: "fs", arguments: '{"uri":"abc","edits":[{"line":3}]}' }]);
  expect(content.at(-1)).toMatchObject({ native: { data: { thoughtSignature: "sig" } } });
  expect(textOf(content)).toBe("So");
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
});

test("gemini: a blocked prompt is a refusal, and an empty stream is a broken one", () => {
  expect(read(gemini, [{ promptFeedback: { blockReason: "SAFETY" } }])).toMatchObject({
    stop: "refusal",
    detail: "SAFETY",
  });
  expect(() => read(gemini, [{ usageMetadata: { promptTokenCount: 3 } }])).toThrow("not done");
});
