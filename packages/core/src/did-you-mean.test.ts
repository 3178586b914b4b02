import { expect, test } from "vitest";
import { didYouMean, nearestName } from "./did-you-mean.ts";

const COMMANDS = ["serve", "call", "tools", "doctor", "setup", "apply_patch", "search_text"];

test.each([
  ["sevre", "serve"],
  ["tool", "tools"],
  ["doctro", "doctor"],
  ["Setup", "setup"],
  ["apply-patch", "apply_patch"],
  ["search", "search_text"],
])("'%s' is near '%s'", (typed, name) => {
  expect(nearestName(typed, COMMANDS)).toBe(name);
});

test("a start that several names share is answered with all of them", () => {
  const clients = ["claude-code", "claude-desktop", "cursor"];
  expect(didYouMean("claud", clients)).toBe(" Did you mean 'claude-code' or 'claude-desktop'?");
});

test.each(["xyz", "s", "", "q".repeat(1_000)])("nothing is near '%s'", (typed) => {
  expect(nearestName(typed, COMMANDS)).toBeUndefined();
  expect(didYouMean(typed, COMMANDS)).toBe("");
});
