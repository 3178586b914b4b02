import { PassThrough, Writable } from "node:stream";
import { createQuestions, type QuestionOutcome } from "@octant/core";
import { QUIET_MS } from "@octant/runtime";
import { expect, test } from "vitest";
import { PlainApp } from "./plain-app.ts";
import { createTestApp } from "./testing/app.ts";
import { createManualClock } from "./testing/clock.ts";

const EARLY = "ignored: the question had just appeared; answer again\n";

/** A person who types lines, whose time passes as the test says. */
function start() {
  const clock = createManualClock();
  const sent: string[] = [];
  let written = "";
  const input = new PassThrough();
  const output = new Writable({
    write(chunk, _encoding, done) {
      written += chunk;
      done();
    },
  });
  const app = new PlainApp({
    agent: createTestApp({ turns: [] }).agent,
    clock,
    command: async () => undefined,
    facts: () => ({}),
    async toContent(text) {
      sent.push(text);
      return text;
    },
    input,
    output,
  });
  const done = app.run([]);
  const answers: QuestionOutcome[] = [];
  const ask = () =>
    void createQuestions()
      .ask(
        {
          kind: "permission",
          action: "proc.exec",
          summary: "Run a command.",
          input: { command: "ls" },
          reason: "no rule allows it",
          tier: "default",
          risk: [],
        },
        { action: "proc.exec", caller: "agent", front: app.ask, signal: new AbortController().signal },
      )
      .then((answer) => answers.push(answer));
  const type = async (line: string) => {
    input.write(`${line}\n`);
    await clock.pass(0);
  };
  return {
    clock,
    sent,
    answers,
    ask,
    type,
    written: () => written,
    async [Symbol.asyncDispose]() {
      app.quit();
      await done;
    },
  };
}

test.each(["y", "n", "allow once", "r"])(
  "'%s' right after a question is neither an answer nor a message, and counts once it is quiet",
  async (word) => {
    await using person = start();
    const { clock, sent, answers, ask, type, written } = person;
    ask();
    await clock.pass(QUIET_MS - 1);
    await type(word);
    expect(written()).toContain(EARLY);
    // What was typed too early does not count later either.
    await clock.pass(QUIET_MS * 3);
    expect({ answers, sent }).toEqual({ answers: [], sent: [] });
    expect(written()).toMatch(/answer with a letter: $/);
    await type("n");
    await clock.pass(QUIET_MS);
    expect(answers).toEqual([{ answer: "deny" }]);
    expect(sent).toEqual([]);
  },
);

test("any other line right after a question is a message, and the question stays", async () => {
  await using person = start();
  person.ask();
  await person.type("yes, and also run the tests");
  await person.clock.pass(QUIET_MS * 3);
  expect(person.sent).toEqual(["yes, and also run the tests"]);
  expect(person.answers).toEqual([]);
});
