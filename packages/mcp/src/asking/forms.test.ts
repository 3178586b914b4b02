import type { PermissionQuestion, Question } from "@octant/core";
import { expect, test } from "vitest";
import { toAnswer, toElicitation } from "./forms.ts";

const FACTS = {
  question_id: "question_1",
  action: "fs.write",
  caller: "me",
  asked_at: "2026-11-16T00:00:00.000Z",
  expires_at: null,
};
const PERMISSION: PermissionQuestion = {
  ...FACTS,
  kind: "permission",
  summary: "Create a new file.",
  input: { uri: "src/a.ts" },
  reason: "no rule is about it",
  tier: "default",
  risk: [],
  choices: ["once", "session", "always", "deny"],
  always: { rule: { tool_pattern: "fs.write" }, words: ["allow fs.write"] },
};
const CONFIRMATION: Question = {
  ...FACTS,
  kind: "confirmation",
  message: "Remove it?",
  yes: "Remove",
  choices: ["accept", "decline", "cancel"],
};

test.each([
  [{ action: "accept", content: { answer: "session" } }, { answer: "session" }],
  [{ action: "accept", content: { answer: "deny" } }, { answer: "deny" }],
  [{ action: "accept", content: { answer: "of course" } }, { answer: "deny" }],
  [{ action: "accept" }, { answer: "deny" }],
  [{ action: "decline", content: { answer: "once" } }, { answer: "deny" }],
  [{ action: "cancel" }, { answer: "deny" }],
  [{}, { answer: "deny" }],
])("a form about a permission that comes back as %j means %j", (form, answer) => {
  expect(toAnswer(PERMISSION, form)).toEqual(answer);
});

test.each([
  [{ action: "accept", content: { confirm: true } }, { answer: "accept" }],
  [{ action: "accept", content: { confirm: false } }, { answer: "decline" }],
  [{ action: "accept" }, { answer: "decline" }],
  [{ action: "decline" }, { answer: "decline" }],
  [{ action: "cancel" }, { answer: "cancel" }],
  ["nonsense", { answer: "cancel" }],
])("a confirmation that comes back as %j means %j", (form, answer) => {
  expect(toAnswer(CONFIRMATION, form)).toEqual(answer);
});

test("a form offers only effective choices, with the rule that always would add", () => {
  const { params } = toElicitation(PERMISSION);
  expect(params["requestedSchema"]).toMatchObject({ required: ["answer"] });
  expect(Object.keys(Object(params["requestedSchema"]).properties)).toEqual(["answer"]);
  expect(JSON.stringify(params["requestedSchema"])).toContain('"const":"always"');
  expect(params["message"]).toContain("fs.write: Create a new file.");
  expect(params["message"]).toContain("allow fs.write");
  const without = toElicitation({ ...PERMISSION, always: undefined, choices: ["once", "session", "deny"] });
  expect(JSON.stringify(without)).not.toContain("always");
});
