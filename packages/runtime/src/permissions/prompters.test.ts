import { PassThrough } from "node:stream";
import type { Answer, Progress, Question } from "@octant/core";
import { expect, test } from "vitest";
import { createApprovalQueue } from "./approval-queue.ts";
import { askThroughClient } from "./ask-through-client.ts";
import { DEFAULT_DECISION } from "./policy.ts";
import { askInOrder, type PermissionRequest, unattended } from "./prompter.ts";
import { createTerminalPrompter } from "./terminal-prompter.ts";

const ALWAYS = { tool_pattern: "fs.write", mode: "allow", args: { path: ["src/*"] } } as const;

const toRequest = (more: Partial<PermissionRequest> = {}): PermissionRequest => ({
  name: "fs.write",
  summary: "Create a new file.",
  input: { uri: "src/a.ts", content: "one\ntwo\n" },
  decision: DEFAULT_DECISION,
  caller: { id: "me", access: "admin" },
  signal: new AbortController().signal,
  ask: async () => undefined,
  progress: () => {},
  isCovered: () => false,
  ...more,
  ...("always" in more ? {} : { always: { ...ALWAYS, args: { path: ["src/*"] } } }),
});

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
  return { input, output, asked, shown: () => shown, prompter: createTerminalPrompter({ input, output }) };
}

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
  const { input, asked, prompter } = openPipes();
  const request = prompter.requestPermission(toRequest());
  await asked(1);
  input.write(`${typed}\n`);
  if (answer) return expect(await request).toEqual(answer);
  await asked(question === "confirm" ? 1 : 2, question);
  input.end();
  expect(await request).toEqual({ answer: "unattended" });
});

test("a question is answered with any text, and the end of the input declines it", async () => {
  const { input, asked, shown, prompter } = openPipes();
  const ask = () => prompter.requestPermission(toRequest({ question: "Which \x1b[31mcolour?" }));
  const first = ask();
  await asked(1, "colour?");
  expect(shown()).not.toContain("\x1b");
  input.write("n or y\n");
  expect(await first).toEqual({ answer: "once", text: "n or y" });
  const second = ask();
  await asked(2, "colour?");
  input.end();
  expect(await second).toEqual({ answer: "deny" });
});

test("the terminal shows the action, its arguments, the change, the reason and the rule that always would add", async () => {
  const { input, asked, shown, prompter } = openPipes();
  const rule = { tool_pattern: "fs.*", mode: "prompt" } as const;
  const decision = { mode: "prompt", tier: "user", rule, reason: "look first" } as const;
  const request = prompter.requestPermission(toRequest({ preview: "-old\n+new", decision }));
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
  const { input, asked, shown, prompter } = openPipes();
  const evil = "\u001b[2J\u001b[Hfs.read: harmless\r\u202ex\nAllow it? [y] once";
  const request = prompter.requestPermission(
    toRequest({ input: { uri: evil, [evil]: 1 }, preview: evil, summary: evil }),
  );
  await asked(1);
  input.write("n\n");
  await request;
  expect(shown()).not.toMatch(/[\u001b\r\u202e]/);
  expect(shown().match(/^Allow it\?/gm)).toHaveLength(1);
});

test('"always" is neither shown nor accepted where it is not offered', async () => {
  const { input, asked, shown, prompter } = openPipes();
  const request = prompter.requestPermission(toRequest({ always: undefined }));
  await asked(1);
  expect(shown()).not.toContain("always");
  input.write("a\n");
  await asked(2);
  input.write("y\n");
  expect(await request).toEqual({ answer: "once" });
});

test("the end of the input means that nobody is there, and an aborted question ends at once", async () => {
  const gone = openPipes();
  const request = gone.prompter.requestPermission(toRequest());
  gone.input.end();
  expect(await request).toEqual({ answer: "unattended" });

  const { asked, prompter } = openPipes();
  const controller = new AbortController();
  const first = prompter.requestPermission(toRequest({ signal: controller.signal }));
  await asked(1);
  controller.abort(new Error("enough"));
  await expect(first).rejects.toThrow("enough");
});

test("the terminal asks one question after the other, and one that waits can be given up", async () => {
  const { input, asked, shown, prompter } = openPipes();
  const controller = new AbortController();
  const first = prompter.requestPermission(toRequest({ name: "fs.one" }));
  const second = prompter.requestPermission(toRequest({ name: "fs.two", signal: controller.signal }));
  const third = prompter.requestPermission(toRequest({ name: "fs.three" }));
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

test("a question that an answer to the one before covers is not asked", async () => {
  const { input, asked, shown, prompter } = openPipes();
  let isCovered = false;
  const first = prompter.requestPermission(toRequest({ name: "fs.one" }));
  const second = prompter.requestPermission(toRequest({ name: "fs.two", isCovered: () => isCovered }));
  await asked(1);
  isCovered = true;
  input.write("s\n");
  expect([await first, await second]).toEqual([{ answer: "session" }, { answer: "once" }]);
  expect(shown()).not.toContain("fs.two");
});

test.each<[Answer | undefined, object]>([
  [{ action: "accept", content: { answer: "session" } }, { answer: "session" }],
  [
    { action: "accept", content: { answer: "deny", reason: "no" } },
    { answer: "deny", reason: "no" },
  ],
  [{ action: "accept", content: { answer: "of course" } }, { answer: "deny" }],
  [{ action: "accept" }, { answer: "deny" }],
  [{ action: "decline", content: { answer: "once" } }, { answer: "deny" }],
  [{ action: "cancel" }, { answer: "deny" }],
  [undefined, { answer: "unattended" }],
])("a form that comes back as %j means %j", async (form, answer) => {
  const request = toRequest({ ask: async () => form });
  expect(await askThroughClient.requestPermission(request)).toEqual(answer);
});

test("a form offers only effective choices, in the form that MCP requires", async () => {
  const questions: Question[] = [];
  const ask = async (question: Question) => {
    questions.push(question);
    return undefined;
  };
  await askThroughClient.requestPermission(toRequest({ ask }));
  await askThroughClient.requestPermission(toRequest({ ask, always: undefined }));
  const choices = questions.map(({ form }) => JSON.stringify(form.properties["answer"]));
  expect(choices.map((text) => text.includes("always"))).toEqual([true, false]);
  expect(questions[0]?.message).toContain("fs.write: Create a new file.");
});

const attended = () => true;

test("an approval waits until it is answered, once, and the caller hears that it waits", async () => {
  const queue = createApprovalQueue();
  const events: string[] = [];
  const updates: Progress[] = [];
  queue.attend(attended);
  queue.events.listen(({ value }) => events.push(value.type));
  const request = queue.requestPermission(toRequest({ progress: (update) => updates.push(update) }));
  const [pending] = queue.list();
  expect(pending).toMatchObject({
    caller: "me",
    action: "fs.write",
    text: expect.stringContaining("src/a.ts"),
    choices: ["once", "session", "always", "deny"],
    always: ALWAYS,
  });
  expect(updates).toMatchObject([{ message: expect.stringContaining(pending?.expires_at ?? "?") }]);
  const id = pending?.approval_id ?? "";
  queue.answer(id, { answer: "deny", reason: "no", by: "you" });
  expect(() => queue.answer(id, { answer: "once", by: "you" })).toThrow("no such approval");
  expect(await request).toEqual({ answer: "deny", reason: "no", by: "you" });
  expect(events).toEqual(["asked", "settled"]);
  expect(queue.list()).toEqual([]);
});

test("an approval that cannot be for always is not taken for it", async () => {
  const queue = createApprovalQueue();
  const close = queue.attend(attended);
  const request = queue.requestPermission(toRequest({ always: undefined }));
  const [pending] = queue.list();
  expect(pending?.choices).toEqual(["once", "session", "deny"]);
  expect(() => queue.answer(pending?.approval_id ?? "", { answer: "always", by: "you" })).toThrow(
    "not offered",
  );
  close();
  expect(await request, "nobody attends any more").toEqual({ answer: "unattended" });
});

test("an approval that an answer to another one covers does not wait", async () => {
  const queue = createApprovalQueue();
  queue.attend(attended);
  const request = queue.requestPermission(toRequest({ isCovered: () => true }));
  expect(await request).toEqual({ answer: "once" });
  expect(queue.list()).toEqual([]);
});

test("an approval runs out, or ends with its call, and says so", async () => {
  const queue = createApprovalQueue(5);
  queue.attend(attended);
  const controller = new AbortController();
  const cancelled = queue.requestPermission(toRequest({ signal: controller.signal }));
  const late = queue.requestPermission(toRequest());
  controller.abort(new Error("enough"));
  await expect(cancelled).rejects.toThrow("enough");
  expect(await late).toEqual({
    answer: "unattended",
    reason: expect.stringContaining("no answer within 0.005 s"),
  });
  expect(queue.list()).toEqual([]);
});

test("no call waits where nobody may answer, nor where too many wait, for one caller or in total", async () => {
  const queue = createApprovalQueue();
  expect(await queue.requestPermission(toRequest())).toEqual({ answer: "unattended" });
  const close = queue.attend(() => false);
  expect(await queue.requestPermission(toRequest())).toEqual({ answer: "unattended" });
  close();

  const end = queue.attend(attended);
  const ask = (id: string) => queue.requestPermission(toRequest({ caller: { id, access: "write" } }));
  const requests = Array.from({ length: 21 }, () => ask("greedy"));
  expect(await requests.at(-1)).toMatchObject({ reason: expect.stringContaining("too many") });
  expect(queue.list()).toHaveLength(20);
  for (let i = 0; i < 100; i++) requests.push(ask(`caller ${i}`));
  expect(queue.list()).toHaveLength(100);
  end();
  await Promise.all(requests);
});

test("an unavailable prompter is skipped", async () => {
  const yes = { requestPermission: async () => ({ answer: "once" }) as const };
  expect(await askInOrder([unattended, yes]).requestPermission(toRequest())).toEqual({ answer: "once" });
  expect(await askInOrder([unattended]).requestPermission(toRequest())).toEqual({ answer: "unattended" });
});
