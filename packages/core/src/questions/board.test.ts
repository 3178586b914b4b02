import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Clock } from "../clock.ts";
import type { Progress } from "../tool.ts";
import { type AskOptions, createQuestions, type QuestionEvent, type Questions } from "./board.ts";
import {
  type Ask,
  type PermissionBody,
  type Question,
  type QuestionAnswer,
  QuestionSettled,
} from "./question.ts";

const clock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
};
const ALWAYS = { rule: { tool_pattern: "fs.write", mode: "allow" }, words: ["allow fs.write"] };
const BODY: PermissionBody = {
  kind: "permission",
  action: "fs.write",
  summary: "Create a new file.",
  input: { uri: "src/a.ts" },
  reason: "no rule is about it",
  tier: "default",
  risk: [],
  always: ALWAYS,
};

const askAt = (questions: Questions, more: Partial<AskOptions> = {}, body: Partial<PermissionBody> = {}) =>
  questions.ask(
    { ...BODY, ...body },
    { action: "fs.write", caller: "me", signal: new AbortController().signal, ...more },
  );

const attended = () => true;

function openBoard(timeoutMs?: number) {
  const questions = createQuestions({ clock, timeoutMs });
  const events: QuestionEvent[] = [];
  questions.events.listen(({ value }) => events.push(value));
  const only = (): Question => {
    const [one, ...more] = questions.list();
    if (!one || more.length > 0) throw new Error(`${more.length + (one ? 1 : 0)} questions wait`);
    return one;
  };
  return { questions, events, types: () => events.map(({ type }) => type), only };
}

/** A front end that shows questions and answers none by itself. */
function openFront() {
  const shown: { question: Question; signal: AbortSignal; reply(answer?: QuestionAnswer): void }[] = [];
  let wake = () => {};
  const front: Ask = (question, signal) =>
    new Promise((resolve) => {
      shown.push({ question, signal, reply: resolve });
      wake();
    });
  const next = async (count: number) => {
    while (shown.length < count)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    return shown[count - 1] as (typeof shown)[number];
  };
  return { front, shown, next };
}

const opened = ({ events }: Questions, count = 1) =>
  new Promise<void>((resolve) => {
    let seen = 0;
    const stop = events.listen(({ value }) => {
      if (value.type === "asked" && ++seen === count) {
        stop();
        resolve();
      }
    });
  });

test("a question waits until it is answered, once, and the caller hears that it waits", async () => {
  const { questions, only, types } = openBoard();
  const updates: Progress[] = [];
  questions.attend(attended);
  const asked = askAt(questions, { progress: (update) => updates.push(update) });
  const { question_id, expires_at } = only();
  expect(only()).toMatchObject({
    ...BODY,
    caller: "me",
    choices: ["once", "session", "always", "deny"],
    expires_at: expect.any(String),
  });
  expect(updates).toMatchObject([{ message: `waits for an approval until ${expires_at}` }]);
  questions.answer(question_id, { answer: "deny", reason: "no", by: "you" });
  expect(() => questions.answer(question_id, { answer: "once" })).toThrow("no such question");
  expect(await asked).toEqual({ answer: "deny", reason: "no", by: "you" });
  expect(types()).toEqual(["asked", "answered"]);
  expect(questions.list()).toEqual([]);
});

test("the first answer counts, wherever it is given, and the other views close with it", async () => {
  for (const first of ["front", "place", "follower"] as const) {
    const { questions, events, only } = openBoard();
    const here = openFront();
    const there = openFront();
    questions.follow({ matches: () => true, ask: there.front });
    const isOpen = opened(questions);
    const asked = askAt(questions, { front: here.front });
    await isOpen;
    const views = [await here.next(1), await there.next(1)];
    const { question_id, expires_at } = only();
    expect(views.map(({ question }) => question.question_id)).toEqual([question_id, question_id]);
    expect(expires_at, "somebody has it before their eyes").toBeNull();
    const answer = { answer: "session", by: first } as const;
    if (first === "place") questions.answer(question_id, answer);
    else views[first === "front" ? 0 : 1]?.reply(answer);
    expect(await asked).toEqual(answer);
    for (const { signal } of views) expect(signal.reason).toMatchObject({ outcome: answer });
    expect(views[0]?.signal.reason).toBeInstanceOf(QuestionSettled);
    for (const { reply } of views) reply({ answer: "deny" });
    expect(events.at(-1)).toEqual({ type: "answered", question_id, ...answer });
  }
});

test("a question leaves no trace when its front end cannot ask or ends the call, and no other place is attended", async () => {
  const { questions, types } = openBoard();
  expect(await askAt(questions, { front: async () => undefined })).toEqual({ answer: "unattended" });
  const ends = async () => {
    throw new Error("the client is asked first");
  };
  await expect(askAt(questions, { front: ends })).rejects.toThrow("the client is asked first");
  expect(types()).toEqual([]);
});

test("a question whose front end cannot ask waits for the other places", async () => {
  const { questions, only } = openBoard();
  questions.attend(attended);
  const isOpen = opened(questions);
  const asked = askAt(questions, { front: async () => undefined });
  await isOpen;
  expect(only().expires_at).toEqual(expect.any(String));
  questions.answer(only().question_id, { answer: "once", by: "you" });
  expect(await asked).toEqual({ answer: "once", by: "you" });
});

test("an answer that was not offered is refused, and from a front end it is a no", async () => {
  const { questions, only } = openBoard();
  const close = questions.attend(attended);
  const asked = askAt(questions, {}, { always: undefined });
  expect(only().choices).toEqual(["once", "session", "deny"]);
  expect(() => questions.answer(only().question_id, { answer: "always" })).toThrow("not offered");
  expect(() => questions.answer(only().question_id, { answer: "accept" })).toThrow("expected one of once");
  close();
  questions.answer(only().question_id, { answer: "deny" });
  expect(await asked, "it waits until it expires, also when nobody looks").toEqual({ answer: "deny" });
  const front = async () => ({ answer: "always" }) as const;
  expect(await askAt(questions, { front }, { always: undefined })).toEqual({ answer: "deny" });
});

test("an answer takes effect before other questions are considered: those that it covers are not asked", async () => {
  const { questions } = openBoard();
  const { front, next, shown } = openFront();
  let isCovered = false;
  const take = async () => {
    await delay(1);
    isCovered = true;
  };
  const more = { front, isCovered: () => isCovered, take };
  const asked = [askAt(questions, more), askAt(questions, more)];
  (await next(1)).reply({ answer: "session" });
  expect(await Promise.all(asked)).toEqual([{ answer: "session" }, { answer: "once" }]);
  expect(shown[1]?.signal.reason).toMatchObject({ outcome: { answer: "once" } });
  expect(await askAt(questions, more)).toEqual({ answer: "once" });
  expect(shown).toHaveLength(2);
});

test("a question expires, or ends with its call, and its views are closed", async () => {
  const { questions, types } = openBoard(5);
  questions.attend(attended);
  const controller = new AbortController();
  const { front, next } = openFront();
  const cancelled = askAt(questions, { front, signal: controller.signal });
  const { signal } = await next(1);
  controller.abort(new Error("enough"));
  await expect(cancelled).rejects.toThrow("enough");
  expect(signal.reason).toMatchObject({ message: "enough" });
  expect(await askAt(questions)).toEqual({
    answer: "unattended",
    reason: expect.stringContaining("no answer within 0.005 s"),
  });
  expect(types()).toEqual(["asked", "withdrawn"]);
  expect(questions.list()).toEqual([]);
});

test("a call does not wait when no person can answer, or when too many wait already, per caller or in total", async () => {
  const { questions } = openBoard();
  expect(await askAt(questions)).toEqual({ answer: "unattended" });
  const close = questions.attend(() => false);
  expect(await askAt(questions)).toEqual({ answer: "unattended" });
  close();

  const end = questions.attend(attended);
  const asked = Array.from({ length: 21 }, () => askAt(questions, { caller: "greedy" }));
  expect(await asked.at(-1)).toMatchObject({ reason: expect.stringContaining("too many") });
  expect(questions.list()).toHaveLength(20);
  for (let i = 0; i < 100; i++) asked.push(askAt(questions, { caller: `caller ${i}` }));
  expect(questions.list()).toHaveLength(100);
  for (const { question_id } of questions.list()) questions.answer(question_id, { answer: "deny" });
  await Promise.all(asked);
  end();
  expect(await askAt(questions), "the last place is gone").toEqual({ answer: "unattended" });
});

test("the question of a job waits for a client that follows it, also for one that comes back", async () => {
  const { questions, only } = openBoard();
  const asked = askAt(questions, { job_id: "job_1" });
  expect(only()).toMatchObject({ job_id: "job_1" });
  const matches = ({ job_id }: Question) => job_id === "job_1";
  const first = openFront();
  const leave = questions.follow({ matches, ask: first.front });
  const { signal } = await first.next(1);
  leave();
  expect(signal.aborted).toBe(true);
  const second = openFront();
  questions.follow({ matches: ({ job_id }) => job_id === "job_2", ask: first.front });
  questions.follow({ matches, ask: second.front });
  (await second.next(1)).reply({ answer: "once" });
  expect(await asked).toEqual({ answer: "once" });
  expect(first.shown).toHaveLength(1);
});
