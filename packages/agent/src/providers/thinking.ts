import type { Thinking } from "@octant/runtime";
import type { Model } from "../api-client.ts";

/** Thinking tokens, for APIs with a budget. */
const BUDGETS: Readonly<Record<Thinking, number>> = { off: 0, low: 4_096, medium: 12_288, high: 24_576 };
/** Anthropic's minimum budget; it also needs room for the answer. */
const MIN_BUDGET = 1_024;

/** `thinking` of Anthropic Messages. The budget is a part of the output. */
export function anthropicThinking({ effort }: Model, maxTokens: number, isThinkingTurn: boolean) {
  if (effort === undefined) return {};
  // It cannot be switched on within a turn.
  if (!isThinkingTurn) return { thinking: { type: "disabled" } };
  const budget = Math.min(BUDGETS[effort], maxTokens - MIN_BUDGET);
  if (budget < MIN_BUDGET) return { thinking: { type: "disabled" } };
  return { thinking: { type: "enabled", budget_tokens: budget } };
}

/** `reasoning` of OpenAI Responses. Reasoning comes encrypted, and as a summary on request. */
export const responsesReasoning = (model: Model) => ({
  ...toInclude([
    ...(isThinking(model) ? ["reasoning.encrypted_content"] : []),
    ...(model.web_search ? ["web_search_call.action.sources"] : []),
  ]),
  ...(model.effort !== undefined && { reasoning: { effort: openaiEffort(model), summary: "auto" } }),
});

const toInclude = (include: readonly string[]) => (include.length > 0 ? { include } : {});

/** `reasoning_effort` of Chat Completions. */
export const chatReasoning = (model: Model) =>
  model.effort === undefined ? {} : { reasoning_effort: openaiEffort(model) };

/** `thinkingConfig` of Gemini: a level since version 3, a budget before. */
export function geminiThinking(model: Model) {
  const { effort, id } = model;
  if (!isThinking(model)) return {};
  if (effort === undefined) return { thinkingConfig: { includeThoughts: true } };
  if (/gemini-[3-9]/.test(id))
    return { thinkingConfig: { includeThoughts: true, thinkingLevel: effort === "off" ? "low" : effort } };
  // The larger models cannot turn it off.
  const least = /flash/.test(id) ? 0 : 128;
  const thinkingBudget = effort === "off" ? least : BUDGETS[effort];
  return { thinkingConfig: { includeThoughts: thinkingBudget > 0, thinkingBudget } };
}

/** An explicit request also applies to unknown models. */
const isThinking = ({ thinking, effort }: Model): boolean =>
  thinking || (effort !== undefined && effort !== "off");

/** The first reasoning models do not support "none". */
function openaiEffort({ effort = "off", id }: Model): string {
  if (effort !== "off") return effort;
  const bare = id.slice(id.lastIndexOf("/") + 1);
  if (/^o\d/.test(bare)) return "low";
  return /^gpt-5(-|$)/.test(bare) ? "minimal" : "none";
}
