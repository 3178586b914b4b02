import { expect, test } from "vitest";
import { costOf, NO_USAGE } from "../usage.ts";
import { findModel } from "./catalog.ts";
import { MODELS } from "./models.ts";

test("the catalogue has families, gateway prefixes, additions, and careful defaults", () => {
  expect(findModel("anthropic", "claude-sonnet-4-20250514")).toMatchObject({
    context_tokens: 200_000,
    price: { input: 3, output: 15 },
  });
  expect(findModel("hanzo", "anthropic/claude-sonnet-4-5").price).toMatchObject({ input: 3 });
  expect(findModel("openai-chat", "qwen3-coder:30b")).toMatchObject({ context_tokens: 32_768, price: null });
  const added = [{ id: "qwen3-coder", context_tokens: 131_072, price: { input: 0, output: 0 } }];
  expect(findModel("openai-chat", "qwen3-coder:30b", added)).toMatchObject({
    context_tokens: 131_072,
    max_output_tokens: 8_192,
    price: { input: 0 },
  });
});

test.each(MODELS)("$id: the facts are complete and plausible", ({ id }) => {
  const { context_tokens, max_output_tokens, price } = findModel("any", id);
  expect(context_tokens).toBeGreaterThan(max_output_tokens);
  if (!price) return;
  expect(price.output).toBeGreaterThan(price.input);
  expect(price.cache_read ?? 0).toBeLessThan(price.input);
  if (price.long) expect(price.long.above_tokens).toBeLessThan(context_tokens);
});

test("a long prompt costs more, and only where the maker says so", () => {
  const { price } = findModel("anthropic", "claude-haiku-5-5");
  const short = { ...NO_USAGE, input_tokens: 60_000, cache_read_tokens: 40_000, output_tokens: 1_000_000 };
  expect(costOf(short, price)).toBeCloseTo(0.006 + 0.0004 + 0.5);
  expect(costOf({ ...short, input_tokens: 60_001 }, price)).toBeCloseTo(0.03 + 0.02 + 2.5);
});

test("a price changes on its day", () => {
  const at = (day: string) => findModel("gemini", "gemini-3.8-flash", [], Date.parse(day)).price?.input;
  expect([at("2026-12-31"), at("2027-01-01")]).toEqual([0.75, 1.5]);
});
