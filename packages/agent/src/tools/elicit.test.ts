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

test("a question of a server is asked with the values that it proposes, and yes sends them", async () => {
  const { asked, elicit } = answering({ answer: "once" });
  const question = { server: "paint", message: "Which colour?", schema: SCHEMA };
  expect(await elicit(question, signal)).toEqual({ action: "accept", content: { colour: "red" } });
  expect(asked[0]).toMatchObject({ name: "mcp__paint", input: { colour: "red" } });
  expect(asked[0]?.summary).toContain("Which colour?");
});

test("no declines, and so does a run that nobody watches", async () => {
  const question = { server: "paint", message: "Which colour?", schema: SCHEMA };
  expect(await answering({ answer: "deny" }).elicit(question, signal)).toEqual({ action: "decline" });
  expect(await elicitThrough(unattended)(question, signal)).toEqual({ action: "decline" });
});

test("a question without proposed values is declined without asking", async () => {
  const { asked, elicit } = answering({ answer: "once" });
  const schema = { ...SCHEMA, required: ["note"] };
  expect(await elicit({ server: "paint", message: "?", schema }, signal)).toEqual({ action: "decline" });
  expect(asked).toEqual([]);
});

test("an address is shown; one that is not of the web is declined", async () => {
  const { asked, elicit } = answering({ answer: "once" });
  const url = "https://example.com/confirm";
  expect(await elicit({ server: "pay", message: "Confirm", url }, signal)).toEqual({ action: "accept" });
  expect(asked[0]?.input).toEqual({ url });
  const bad = await elicit({ server: "pay", message: "Confirm", url: "file:///etc/passwd" }, signal);
  expect(bad).toEqual({ action: "decline" });
});
