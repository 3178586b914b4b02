import { expect, test } from "vitest";
import { createTermCutter } from "../text/terms.ts";
import { questionTerms } from "./question-terms.ts";

test.each([
  ["Returns the names of the names", ["return", "name"]],
  ["whether it is to be read from a file", ["wheth", "is", "to", "read", "from", "file"]],
  ["what is that", ["is"]],
  ["which of them", ["which", "of", "them"]],
])("%j is compared by %j", (question, terms) => {
  expect(questionTerms(question, createTermCutter())).toEqual(terms);
});
