import { type Ask, createQuestions, fillIn, type Question } from "@octant/core";
import { expect, test } from "vitest";
import { elicitFrom } from "./elicit.ts";

const { signal } = new AbortController();
const SCHEMA = {
  type: "object",
  properties: { colour: { type: "string", default: "red" }, note: { type: "string" } },
  required: ["colour"],
};

function setUp(ask: Ask | undefined) {
  const questions = createQuestions();
  const log: string[] = [];
  const asked: Question[] = [];
  const recorded: Ask | undefined =
    ask &&
    ((question, over) => {
      asked.push(question);
      return ask(question, over);
    });
  const elicit = elicitFrom({ questions, caller: "ses_1", ask: recorded, log: (line) => log.push(line) });
  return { questions, asked, log, elicit };
}

test("a server's question is on the board, and yes sends the proposed values", async () => {
  const { elicit, asked } = setUp(async () => ({ answer: "accept" }));
  const question = { server: "paint", message: "Which colour?", schema: SCHEMA };
  expect(await elicit(question, signal)).toEqual({ action: "accept", content: { colour: "red" } });
  expect(asked).toMatchObject([{ kind: "form", action: "mcp__paint", server: "paint", caller: "ses_1" }]);
});

test("it can be answered elsewhere, and values that do not fit are refused by the name of the field", async () => {
  const { elicit, questions } = setUp(() => new Promise(() => {}));
  questions.events.listen(({ value }) => {
    if (value.type !== "asked") return;
    const { question_id } = value.question;
    const answer = (content: Record<string, string | number>) =>
      questions.answer(question_id, { answer: "accept", content });
    expect(() => answer({ colour: 7 })).toThrow(
      expect.objectContaining({
        code: "INVALID_ARGUMENT",
        details: { issues: [expect.objectContaining({ path: "colour" })] },
      }),
    );
    expect(() => answer({ color: "blue" })).toThrow(
      "color: is not a field of this form; fields: colour, note",
    );
    answer({ colour: "blue" });
  });
  const question = { server: "paint", message: "Which colour?", schema: SCHEMA };
  expect(await elicit(question, signal)).toEqual({ action: "accept", content: { colour: "blue" } });
});

test.each<[string, Ask | undefined, object, readonly string[]]>([
  ["no", async () => ({ answer: "decline" }), { action: "decline" }, []],
  ["closing it", async () => ({ answer: "cancel" }), { action: "cancel" }, []],
  ["nobody", undefined, { action: "decline" }, ["no one is here to answer"]],
  [
    "a client's wrong values",
    async () => ({ answer: "accept", content: { colour: 7 } }),
    { action: "decline" },
    ["colour: Invalid input: expected string, received number"],
  ],
])("%s does not accept it, and the person sees why unless they did it", async (_who, ask, answer, why) => {
  const { elicit, log } = setUp(ask);
  const question = { server: "paint", message: "Which colour?", schema: SCHEMA };
  expect(await elicit(question, signal)).toEqual(answer);
  expect(log).toEqual(
    why.map((reason) => `the MCP server paint asked "Which colour?"; it was declined: ${reason}`),
  );
});

test("a form that cannot be checked is declined", async () => {
  const { elicit, log } = setUp(async () => ({ answer: "accept" }));
  const schema = { type: "object", properties: { colour: { type: "nonsense" } } };
  expect(await elicit({ server: "paint", message: "?", schema }, signal)).toEqual({ action: "decline" });
  expect(log[0]).toContain("the form cannot be shown");
});

const FORM = {
  type: "object",
  properties: {
    note: { type: "string", title: "Your note", minLength: 3 },
    size: { type: "integer", minimum: 1 },
    colour: { type: "string", enum: ["red", "green"], default: "red" },
    tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
    again: { type: "boolean" },
  },
  required: ["note", "size"],
};

/** Types these texts. */
function typing(texts: readonly string[]) {
  const questions: string[] = [];
  const left = [...texts];
  const ask: Ask = async (question) => {
    const content = await fillIn(question.kind === "form" ? question.schema : {}, async (label) => {
      questions.push(label);
      return left.shift();
    });
    return content ? { answer: "accept", content } : { answer: "decline" };
  };
  return { questions, elicit: setUp(ask).elicit };
}

test("a form is filled in value by value; an invalid value is asked for again", async () => {
  const { questions, elicit } = typing(["ab", "", "because", "x", "7", "blue", "", "a, b", "yes"]);
  expect(await elicit({ server: "paint", message: "?", schema: FORM }, signal)).toEqual({
    action: "accept",
    content: { note: "because", size: 7, colour: "red", tags: ["a", "b"], again: true },
  });
  expect(questions[0]).toBe("Your note (string; required)");
  expect(questions[1]).toMatch(/^Too small.*Your note/);
  expect(questions[2]).toMatch(/^this value is required\. Your note/);
  expect(questions.at(-4)).toBe("colour (one of red, green; empty: red)");
  expect(questions.at(-2)).toBe("tags (any of a, b, separated by commas; empty: left out)");
});

test("a person who leaves a form declines it", async () => {
  const { elicit } = typing(["because"]);
  expect(await elicit({ server: "paint", message: "?", schema: FORM }, signal)).toEqual({
    action: "decline",
  });
});

test("an address is shown; one that is not http or https is declined", async () => {
  const { asked, elicit } = setUp(async () => ({ answer: "accept" }));
  const url = "https://example.com/confirm";
  expect(await elicit({ server: "pay", message: "Confirm", url }, signal)).toEqual({ action: "accept" });
  expect(asked).toMatchObject([{ url }]);
  const bad = await elicit({ server: "pay", message: "Confirm", url: "file:///etc/passwd" }, signal);
  expect(bad).toEqual({ action: "decline" });
  expect(asked).toHaveLength(1);
});
