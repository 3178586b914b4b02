import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { DEFAULT_DECISION } from "./policy.ts";
import type { PermissionRequest } from "./prompter.ts";
import { createTerminalPrompter } from "./terminal-prompter.ts";

const ALWAYS = { tool_pattern: "fs.write", mode: "allow", args: { path: ["src/*"] } } as const;

const toRequest = (more: Partial<PermissionRequest> = {}): PermissionRequest => ({
  name: "fs.write",
  summary: "Create a new file.",
  input: { uri: "src/a.ts", content: "one\ntwo\n" },
  decision: DEFAULT_DECISION,
  caller: { id: "me", access: "admin" },
  signal: new AbortController().signal,
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
