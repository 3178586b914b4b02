import { expect, test } from "vitest";
import type { ModelRequest } from "../api-client.ts";
import { anthropicMessages } from "./anthropic.ts";
import { findModel } from "./catalog.ts";
import { gemini } from "./gemini.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";

const REQUEST: ModelRequest = { system: "s", tools: [], messages: [] };
const encode = (
  api: typeof gemini,
  id: string,
  effort?: "off" | "low" | "medium" | "high",
  request: Partial<ModelRequest> = {},
) =>
  // As JSON, without undefined fields.
  JSON.parse(
    JSON.stringify(
      api.body({ ...REQUEST, ...request }, { ...findModel("p", id), ...(effort && { effort }) }, []),
    ),
  );

test("Anthropic gets a budget that leaves room for the answer, or none", () => {
  expect(encode(anthropicMessages, "claude-sonnet-4-5").thinking).toBeUndefined();
  expect(encode(anthropicMessages, "claude-sonnet-4-5", "off").thinking).toEqual({ type: "disabled" });
  expect(encode(anthropicMessages, "claude-sonnet-4-5", "low").thinking).toEqual({
    type: "enabled",
    budget_tokens: 4_096,
  });
  const small = encode(anthropicMessages, "claude-sonnet-4-5", "high", { max_output_tokens: 4_000 });
  expect(small.thinking).toEqual({ type: "enabled", budget_tokens: 4_000 - 1_024 });
  const tiny = encode(anthropicMessages, "claude-sonnet-4-5", "high", { max_output_tokens: 1_500 });
  expect(tiny.thinking).toEqual({ type: "disabled" });
});

test("OpenAI gets an effort, and the lowest that the model supports for off", () => {
  expect(encode(openaiResponses, "gpt-5.1").reasoning).toBeUndefined();
  expect(encode(openaiResponses, "gpt-5.1", "high").reasoning).toEqual({ effort: "high", summary: "auto" });
  expect(encode(openaiResponses, "gpt-5.1", "off").reasoning.effort).toBe("none");
  expect(encode(openaiResponses, "gpt-5-mini", "off").reasoning.effort).toBe("minimal");
  expect(encode(openaiResponses, "o3", "off").reasoning.effort).toBe("low");
  // Also for an unknown model: its reasoning must be sent back.
  expect(encode(openaiResponses, "new", "low").include).toEqual(["reasoning.encrypted_content"]);
  expect(encode(openaiChat, "qwen3", "medium").reasoning_effort).toBe("medium");
  expect(encode(openaiChat, "qwen3").reasoning_effort).toBeUndefined();
});

test("Gemini gets a budget, and a level since version 3", () => {
  const configOf = (id: string, effort?: "off" | "low" | "high") =>
    encode(gemini, id, effort).generationConfig.thinkingConfig;
  expect(configOf("gemini-2.5-flash")).toEqual({ includeThoughts: true });
  expect(configOf("gemini-2.5-flash", "off")).toEqual({ includeThoughts: false, thinkingBudget: 0 });
  expect(configOf("gemini-2.5-pro", "off")).toMatchObject({ thinkingBudget: 128 });
  expect(configOf("gemini-2.5-pro", "high")).toEqual({ includeThoughts: true, thinkingBudget: 24_576 });
  expect(configOf("gemini-3-pro", "low")).toEqual({ includeThoughts: true, thinkingLevel: "low" });
});
