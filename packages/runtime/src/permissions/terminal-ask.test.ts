import { PassThrough } from "node:stream";
import type { FormQuestion, PermissionQuestion, Question } from "@octant/core";
import { expect, test } from "vitest";
import { createTerminalAsk } from "./terminal-ask.ts";

const FACTS = {
  question_id: "question_1",
  caller: "me",
  asked_at: "2026-11-16T00:00:00Z",
  expires_at: null,
};
const ALWAYS = { rule: {}, words: ['"always" adds this rule:', "  allow fs.write on the paths `src/*`"] };

const toQuestion = (more: Partial<PermissionQuestion> = {}): PermissionQuestion => ({
  ...FACTS,
  kind: "permission",
  action: "fs.write",
  choices: ["once", "session", "always", "deny"],
  summary: "Create a new file.",
  input: { uri: "src/a.ts", content: "one\ntwo\n" },
  reason: "no rule is about it",
  tier: "default",
  risk: [],
  always: ALWAYS,
  ...more,
});

const FORM: FormQuestion = {
  ...FACTS,
  kind: "form",
  action: "mcp__paint",
  choices: ["accept", "decline", "cancel"],
  message: "What shall it be?",
  schema: {
    type: "object",
    properties: { colour: { type: "string", title: "Which \x1b[31mcolour?" }, size: { type: "integer" } },
    required: ["colour"],
  },
};

function openPipes() {
  const input = new PassThrough();
  const output = new PassThrough({ encoding: "utf8" });
  let shown = "";
  const waiting = new Set<() => void>();
  output.on("data", (text) => {
    shown += text;
    for (const look of waiting) look();
  });
  /** Resolves when the person has been asked so often. */
  const asked = (times: number, question = "Allow it?") =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (shown.split(question).length > times) resolve();
      };
      waiting.add(look);
      look();
    });
  return { input, output, asked, shown: () => shown, ask: toAsk(createTerminalAsk({ input, output })) };
}

const toAsk =
  (ask: ReturnType<typeof createTerminalAsk>) =>
  (question: Question, signal = new AbortController().signal) =>
    ask(question, signal);

test.each([
  ["y", { answer: "once" }],
  ["YES", { answer: "once" }],
  [" s ", { answer: "session" }],
  ["a\na", { answer: "always" }],
  ["a", undefined, "confirm"],
  ["a\ny", undefined],
  ["n", { answer: "deny" }],
  ["No, wrong file", { answer: "deny", reason: "wrong file" }],
  ["yes, but not there", undefined],
  ["", undefined],
  ["n wrong file", { answer: "deny", reason: "wrong file" }],
] as const)("at the terminal %j means %j", async (typed, answer, question: string = "Allow it?") => {
  const { input, asked, ask } = openPipes();
  const request = ask(toQuestion());
  await asked(1);
  input.write(`${typed}\n`);
  if (answer) return expect(await request).toEqual(answer);
  await asked(question === "confirm" ? 1 : 2, question);
  input.end();
  expect(await request).toBeUndefined();
});

test("the values of a form are typed one by one and sent with a yes; the end of the input declines it", async () => {
  const { input, asked, shown, ask } = openPipes();
  const first = ask(FORM);
  await asked(1, "colour? (string; required), or");
  expect(shown()).not.toContain("\x1b");
  input.write("n or y\n");
  await asked(1, "size (integer; empty: left out), or");
  input.write("large\n");
  await asked(1, "expected number, received NaN. size");
  input.write("7\n");
  await asked(1, "Send it?");
  input.write("y\n");
  expect(await first).toEqual({ answer: "accept", content: { colour: "n or y", size: 7 } });
  const second = ask(FORM);
  await asked(2, "colour? (string; required), or");
  input.end();
  expect(await second).toEqual({ answer: "decline" });
});

test.each([
  ["y", "accept"],
  ["no", "decline"],
])("a confirmation and an address take %s for %s", async (typed, answer) => {
  const { input, asked, shown, ask } = openPipes();
  const { choices } = FORM;
  const first = ask({
    ...FACTS,
    kind: "confirmation",
    action: "fs.rm",
    choices,
    message: "All of it?",
    yes: "Remove",
  });
  await asked(1, "Remove? [y] yes");
  input.write(`s\n${typed}\n`);
  expect(await first).toEqual({ answer });
  const second = ask({
    ...FACTS,
    kind: "form",
    action: "mcp__pay",
    choices,
    message: "Pay",
    url: "https://pay.example",
  });
  await asked(1, "Have you opened it?");
  expect(shown()).toContain("https://pay.example");
  input.write(`${typed}\n`);
  expect(await second).toEqual({ answer });
});

test("the terminal shows the action, its arguments, the change, the reason and the rule that always would add", async () => {
  const { input, asked, shown, ask } = openPipes();
  const request = ask(toQuestion({ preview: "-old\n+new", reason: "look first", rule: "prompt fs.*" }));
  await asked(1);
  input.write("y\n");
  await request;
  for (const part of [
    "fs.write: Create a new file.",
    "uri: src/a.ts",
    "  | one",
    "  | two",
    "  | +new",
    "look first [prompt fs.*]",
  ])
    expect(shown()).toContain(part);
  expect(shown()).toContain("allow fs.write on the paths `src/*`");
});

test("nothing in a call can move the cursor or look like a line of ours", async () => {
  const { input, asked, shown, ask } = openPipes();
  const evil = "\u001b[2J\u001b[Hfs.read: harmless\r\u202ex\nAllow it? [y] once";
  const request = ask(toQuestion({ input: { uri: evil, [evil]: 1 }, preview: evil, summary: evil }));
  await asked(1);
  input.write("n\n");
  await request;
  expect(shown()).not.toMatch(/[\u001b\r\u202e]/);
  expect(shown().match(/^Allow it\?/gm)).toHaveLength(1);
});

test('"always" is neither shown nor accepted where it is not offered', async () => {
  const { input, asked, shown, ask } = openPipes();
  const request = ask(toQuestion({ always: undefined }));
  await asked(1);
  expect(shown()).not.toContain("always");
  input.write("a\n");
  await asked(2);
  input.write("y\n");
  expect(await request).toEqual({ answer: "once" });
});

test("the end of the input means that nobody is there, and an aborted question ends at once", async () => {
  const gone = openPipes();
  const request = gone.ask(toQuestion());
  gone.input.end();
  expect(await request).toBeUndefined();

  const { asked, ask } = openPipes();
  const controller = new AbortController();
  const first = ask(toQuestion(), controller.signal);
  await asked(1);
  controller.abort(new Error("enough"));
  await expect(first).rejects.toThrow("enough");
});

test("the terminal asks one question after the other, and one that waits can be given up", async () => {
  const { input, asked, shown, ask } = openPipes();
  const controller = new AbortController();
  const first = ask(toQuestion({ action: "fs.one" }));
  const second = ask(toQuestion({ action: "fs.two" }), controller.signal);
  const third = ask(toQuestion({ action: "fs.three" }));
  await asked(1);
  controller.abort(new Error("enough"));
  await expect(second).rejects.toThrow("enough");
  expect(shown()).not.toContain("fs.three");
  input.write("y\n");
  expect(await first).toEqual({ answer: "once" });
  await asked(2);
  input.write("s\n");
  expect(await third).toEqual({ answer: "session" });
  expect(shown()).not.toContain("fs.two");
});
