import { fieldsOf, type Mode, type SessionMode } from "@octant/core";
import { expect, test } from "vitest";
import { textOf } from "../messages.ts";
import { createPersonTools } from "./person-tools.ts";

const CHOICE = { question: "Which store?", options: [{ label: "SQLite", description: "one file" }, "Redis"] };

test.each([
  ["ExitPlanMode", "plan", { plan: "1. Mend it" }, { mode: "edits" }, "the mode is edits now", "edits"],
  ["exit_plan_mode", "plan", {}, { mode: "stay in plan" }, "stays in mode plan", "plan"],
  ["ExitPlanMode", "ask", { plan: "1. Mend it" }, undefined, "not in mode plan", "ask"],
  ["AskUserQuestion", "ask", { questions: [CHOICE] }, { answer_1: "Redis" }, "Which store?\nRedis", "ask"],
  ["request_user_input", "ask", { questions: [CHOICE] }, { answer_1: "Redis" }, "Which store?\nRedis", "ask"],
  ["question", "ask", { questions: [CHOICE] }, { answer_1: "SQLite" }, "Which store?\nSQLite", "ask"],
  [
    "ask_followup_question",
    "ask",
    { question: "Which?", follow_up: ["a", "b"] },
    { answer_1: "b" },
    "Which?\nb",
    "ask",
  ],
] as const)(
  "%s in mode %s asks the person, and the model reads the answer",
  async (name, start, input, content, text, end) => {
    let mode: Mode = start;
    const tools = createPersonTools({
      questions: {
        async ask(body) {
          if (body.kind !== "form" || content === undefined) return expect.fail("nothing is to be asked");
          const [field] = fieldsOf(body.schema);
          const [value] = Object.values(content);
          expect(field?.choices).toContain(value);
          return { answer: "accept", content };
        },
      },
      caller: "ses_1",
      mode: () => mode,
      modes: ["ask", "edits", "sandbox"],
      switchTo: (next: SessionMode) => {
        mode = next;
      },
    });
    const call = tools.resolve?.({ id: "1", name, input }) ?? expect.fail();
    const signal = new AbortController().signal;
    const given = { sessionId: "ses_1", signal, ask: async () => undefined, onProgress: () => {} };
    const result = await tools.execute(call, given);
    expect({ text: textOf(result.content), mode }).toEqual({
      text: expect.stringContaining(text),
      mode: end,
    });
  },
);
