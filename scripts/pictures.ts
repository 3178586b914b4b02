import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import {
  type ApiClient,
  type AssistantPart,
  createAgent,
  createSession,
  NO_USAGE,
  type StreamEvent,
  type ToolExecutor,
  textParts,
} from "@octant/agent";
import { createScriptedProvider } from "@octant/scripted-provider";
import { loadHighlighter, openHistory, span, TerminalApp } from "@octant/terminal";
import type { Io } from "../packages/cli/src/command.ts";
import { firstRun } from "../packages/cli/src/first-run/first-run.ts";
import { createTestDevice, type TestDevice } from "../packages/terminal/src/test-device.ts";
import { toHtml } from "../packages/terminal/src/test-picture.ts";

/** Draws docs/pictures/*.png: typical scenes of the terminal agent, played by a scripted model. */
const FOLDER = join(import.meta.dirname, "../docs/pictures");

type Reply = { text?: string; call?: object; hang?: boolean; fail?: string };
type Scene = {
  name: string;
  size?: [number, number];
  background?: "dark" | "light";
  vim?: boolean;
  replies?: Reply[];
  keys: (string | { wait: string } | { plan: object })[];
  agents?: { role: string; task: string; turns: number }[];
};

const PLAN = `# Fix the failing test

\`add\` returns a **string** when one argument is a string. I will:

1. read \`src/add.ts\`
2. convert both arguments
3. run the tests again

\`\`\`ts
export const add = (a: number, b: number): number => a + b;
\`\`\`

| file | change |
|---|---|
| src/add.ts | types of the arguments |
| src/add.test.ts | one more case |
`;
const type = (text: string) => [...text];

const SCENES: Scene[] = [
  {
    name: "streaming",
    replies: [{ text: PLAN, hang: true }],
    keys: [...type("fix the failing test"), "Enter", { wait: "one more case" }],
  },
  {
    name: "diff-prompt",
    replies: [{ text: "I change the types.", call: { uri: "src/add.ts" } }],
    keys: [...type("go on"), "Enter", { wait: "allow once" }],
  },
  {
    name: "vim-visual",
    vim: true,
    keys: [...type("explain how the parser handles errors"), "Escape", "b", "b", "v", "e"],
  },
  {
    name: "plan",
    replies: [{ text: "I reproduced it: `add` gets a **string**. Now the types.", hang: true }],
    keys: [
      ...type("fix the failing test"),
      "Enter",
      { wait: "Now the types" },
      {
        plan: steps("Fix the failing test", [
          ["Reproduce it in a test", "completed"],
          ["Give the arguments of add their types", "in_progress"],
          ["Run the tests again", "pending"],
          ["Look for other callers", "pending"],
        ]),
      },
      { wait: "plan 1/4" },
    ],
  },
  {
    name: "sub-agents",
    replies: [{ text: "Three sub-agents look at it from different sides.", hang: true }],
    agents: [
      { role: "solve", task: "Find out why add gets a string", turns: 4 },
      { role: "code", task: "Give the arguments of add their types, in a worktree", turns: 7 },
      { role: "review", task: "Review the changes since the last commit", turns: 1 },
    ],
    keys: [...type("fix it, and let somebody review it"), "Enter", { wait: "3 agents" }],
  },
  {
    name: "error",
    replies: [{ fail: "the provider answered 401: sign in again with octant login anthropic" }],
    keys: [...type("hello"), "Enter", { wait: "sign in" }],
  },
  {
    name: "narrow",
    size: [44, 26],
    replies: [{ text: PLAN }],
    keys: [...type("make a plan"), "Enter", { wait: "one more" }],
  },
  {
    name: "light-theme",
    background: "light",
    replies: [{ text: PLAN }],
    keys: [...type("make a plan"), "Enter", { wait: "one more case" }],
  },
  { name: "commands", keys: ["/", { wait: "/help" }] },
  {
    name: "rewind",
    replies: [{ text: "Done." }],
    keys: [
      ...type("fix the failing test"),
      "Enter",
      { wait: "Done." },
      { wait: "ask, or" },
      "Escape",
      "Escape",
    ],
  },
];

function steps(title: string, entries: [string, string][]) {
  return { plan_id: "plan_1", title, entries: entries.map(([content, status]) => ({ content, status })) };
}

const DIFF =
  "--- a/src/add.ts\n+++ b/src/add.ts\n@@ -1 +1 @@\n-export const add = (a: any, b: any) => a + b;\n+export const add = (a: number, b: number): number => a + b;\n";

function clientFor(replies: Reply[]): ApiClient {
  let at = 0;
  return {
    model: {
      id: "claude-sonnet",
      provider: "anthropic",
      context_tokens: 200_000,
      max_output_tokens: 8000,
      price: { input: 3, output: 15 },
      images: true,
      thinking: true,
    },
    async *send(_request, signal): AsyncGenerator<StreamEvent> {
      const reply = replies[at++] ?? { text: "Done." };
      if (reply.fail) throw new Error(reply.fail);
      if (reply.text) yield { type: "text", text: reply.text };
      if (reply.hang)
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      const content: AssistantPart[] = [{ type: "text", text: reply.text ?? "" }];
      if (reply.call)
        content.push({
          type: "tool_call",
          id: `call_${at}`,
          name: "fs",
          arguments: JSON.stringify(reply.call),
        });
      yield {
        type: "done",
        message: { role: "assistant", content },
        stop: reply.call ? "tool_calls" : "end",
        usage: { ...NO_USAGE, input_tokens: 12_000, cache_read_tokens: 48_000, output_tokens: 800 },
      };
    },
  };
}

const tools: ToolExecutor = {
  definitions: () => [{ name: "fs", description: "Files.", input_schema: { type: "object" } }],
  outline: ({ input }) => ({
    title: `fs.apply_patch ${String(input["uri"])}`,
    kind: "edit",
    reads_only: false,
    paths: [],
  }),
  async execute(call, { prompter, signal }) {
    await prompter.requestPermission({
      name: "fs.apply_patch",
      summary: "Change existing files, all or none.",
      input: call.input,
      preview: DIFF,
      decision: {
        mode: "prompt",
        tier: "default",
        rule: null,
        reason: "no rule is about this call, so the person decides",
      },
      caller: { id: "agent", access: "write" },
      signal,
      ask: async () => undefined,
      progress: () => {},
      isCovered: () => false,
      always: { tool_pattern: "fs.apply_patch", mode: "allow", args: { path: ["src/*"] } },
    });
    return { content: textParts("done"), is_error: false };
  },
};

async function draw(
  { name, size = [92, 30], background = "dark", vim = false, replies = [], keys, agents = [] }: Scene,
  work: string,
) {
  const device = createTestDevice(...size);
  let app: TerminalApp | undefined;
  const agent = createAgent({
    client: clientFor(replies),
    tools,
    session: createSession({ id: "ses_demo" }),
    prompter: { requestPermission: (request) => app!.prompter.requestPermission(request) },
  });
  app = new TerminalApp({
    device,
    palette: { depth: "truecolor", background },
    agent,
    model: "claude-sonnet",
    highlight,
    inputMode: vim ? "vim" : "default",
    history: openHistory(undefined),
    complete: async () => [
      { value: "/help", detail: "List the commands and keys" },
      { value: "/model", detail: "Use another model from the next message on" },
      { value: "/undo", detail: "Take back the last turn, commands included" },
    ],
    command: async () => undefined,
    facts: () => ({ branch: "main", sandbox: "bubblewrap", agents }),
    prompts: () => ["read the parser", "write a test for add", "fix the failing test"],
  });
  const done = app.run([
    [span("Octant", { bold: true, role: "accent" }), span("  ~/projects/calculator", { role: "muted" })],
    [],
  ]);
  for (const key of keys) {
    if (typeof key === "string") device.type(key);
    else if ("plan" in key) await agent.session.append({ type: "mark", name: "plan", data: key.plan });
    else await until(async () => (await device.all()).join("\n").includes(key.wait), name);
  }
  await shoot(name, device, background, work);
  await agent.cancel();
  app.quit();
  await done;
  process.stdout.write(`${name}\n`);
}

/** Polls once per turn of the event loop, up to the limit of a scene. */
async function until(holds: () => Promise<boolean>, name: string): Promise<void> {
  for (let i = 0; i < 20_000; i++) {
    if (await holds()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`the scene ${name} did not come to its end`);
}

async function shoot(name: string, device: TestDevice, background: "dark" | "light", work: string) {
  await device.screen();
  const page = join(work, `${name}.html`);
  writeFileSync(page, toHtml(device.terminal, background));
  const { columns, rows } = device;
  execFileSync(
    "chromium",
    [
      "--headless",
      "--no-sandbox",
      "--hide-scrollbars",
      `--window-size=${columns * 9 + 40},${rows * 19 + 36}`,
      `--screenshot=${join(FOLDER, `${name}.png`)}`,
      `file://${page}`,
    ],
    { stdio: "ignore" },
  );
}

/** The real first run, with a model server on loopback. */
async function drawFirstRun(work: string) {
  await using provider = await createScriptedProvider([], { models: ["qwen3-coder:30b", "gpt-oss:20b"] });
  const device = createTestDevice(92, 24);
  const stdin = new PassThrough();
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      device.write(String(chunk).replaceAll(/\r?\n/g, "\r\n"));
      done();
    },
  });
  const io = { stdin, stdout, env: { HOME: work, OLLAMA_HOST: provider.url }, cwd: () => work };
  // The streams of a process have more members than the first run needs.
  const leaving = firstRun({ provider: undefined, root: [], io: io as unknown as Io });
  const shows = (text: string) =>
    until(async () => (await device.all()).join("\n").includes(text), "first-run");
  await shows("Which one?");
  stdin.write("1\n");
  await shows("Which model?");
  await shoot("first-run", device, "dark", work);
  stdin.write("q\n");
  await leaving;
}

const highlight = loadHighlighter();
await import("lowlight");
const work = mkdtempSync(join(tmpdir(), "octant-pictures-"));
mkdirSync(FOLDER, { recursive: true });
await drawFirstRun(work);
for (const scene of SCENES) await draw(scene, work);
rmSync(work, { recursive: true, force: true });
