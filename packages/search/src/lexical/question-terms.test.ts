import { expect, test } from "vitest";
import { createTermCutter } from "../text/terms.ts";
import { createQuestionTerms } from "./question-terms.ts";

const askedTerms = createQuestionTerms(createTermCutter());
const inFull = (question: string) =>
  askedTerms(question)
    .filter(({ weight }) => weight === 1)
    .map(({ term }) => term);

test.each([
  ["Returns the names of the names", ["return", "name"]],
  ["whether it is to be read from a file", ["wheth", "is", "to", "read", "from", "file"]],
  ["what is that", ["is"]],
  ["which of them", ["which", "of", "them"]],
])("%j is compared by %j", (question, terms) => {
  expect(inFull(question)).toEqual(terms);
});

test("abbreviations and joined neighbours count too, but less", () => {
  const weightOf = new Map(
    askedTerms("add slashes to the environment").map(({ term, weight }) => [term, weight]),
  );
  expect(weightOf.get("env")).toBeLessThan(1);
  expect(weightOf.get("addslash")).toBeLessThan(1);
  expect(weightOf.get("add")).toBe(1);
});
