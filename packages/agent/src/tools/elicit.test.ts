import { type PermissionAnswer, type PermissionRequest, unattended } from "@octant/runtime";
import { expect, test } from "vitest";
import { elicitThrough } from "./elicit.ts";

const { signal } = new AbortController();
const SCHEMA = {
  type: "object",
  properties: { colour: { type: "string", default: "red" }, note: { type: "string" } },
  required: ["colour"],
};

function answering(answer: PermissionAnswer) {
  const asked: PermissionRequest[] = [];
  const elicit = elicitThrough({
    async requestPermission(request) {
      asked.push(request);
      return answer;
    },
  });
  return { asked, elicit };
}

test("a server's question is asked with its proposed values, and yes sends them", async () => {
  const { asked, elicit } = answering({ answer: "once" });
  const question = { server: "paint", message: "Which colour?", schema: SCHEMA };
  expect(await elicit(question, signal)).toEqual({ action: "accept", content: { colour: "red" } });
  expect(asked[0]).toMatchObject({ name: "mcp__paint", input: { colour: "red" } });
  expect(asked[0]?.summary).toContain("Which colour?");
});

test("no declines, and so does an unattended run", async () => {
  const question = { server: "paint", message: "Which colour?", schema: SCHEMA };
  expect(await answering({ answer: "deny" }).elicit(question, signal)).toEqual({ action: "decline" });
  expect(await elicitThrough(unattended)(question, signal)).toEqual({ action: "decline" });
});

test("a required value that nobody can type is declined, and the person sees why", async () => {
  const { asked } = answering({ answer: "once" });
  const log: string[] = [];
  const elicit = elicitThrough(unattended, (line) => log.push(line));
  const schema = { ...SCHEMA, required: ["note"] };
  expect(await elicit({ server: "paint", message: "Why?", schema }, signal)).toEqual({ action: "decline" });
  expect(asked).toEqual([]);
  expect(log).toEqual([
    "the MCP server paint asked \"Why?\"; it was declined: no one is here to fill in 'note'",
  ]);
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

/** Types these texts, then approves. */
function typing(texts: readonly string[]) {
  const questions: (string | undefined)[] = [];
  const left = [...texts];
  const elicit = elicitThrough({
    reads: "text",
    async requestPermission({ question }) {
      if (question === undefined) return { answer: "once" };
      questions.push(question);
      const text = left.shift();
      return text === undefined ? { answer: "deny" } : { answer: "once", text };
    },
  });
  return { questions, elicit };
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
  const { asked, elicit } = answering({ answer: "once" });
  const url = "https://example.com/confirm";
  expect(await elicit({ server: "pay", message: "Confirm", url }, signal)).toEqual({ action: "accept" });
  expect(asked[0]?.input).toEqual({ url });
  const bad = await elicit({ server: "pay", message: "Confirm", url: "file:///etc/passwd" }, signal);
  expect(bad).toEqual({ action: "decline" });
});
