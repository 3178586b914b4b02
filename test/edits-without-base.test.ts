import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openAgent } from "@octant/app";
import { createScriptedProvider, type ScriptedPart } from "@octant/scripted-provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { accountAt } from "./scripted-account.ts";

/** Edits of a model that gives no base_hash: which are made, and which are refused (decision 0041). */

const project = createFixtureProject();
let turns: (ScriptedPart[] | (() => void))[] = [];
let session: Awaited<ReturnType<typeof openSession>>;

async function openSession() {
  const provider = await createScriptedProvider(() => {
    while (typeof turns[0] === "function") (turns.shift() as () => void)();
    // Functions are gone.
    const next = turns.shift() as ScriptedPart[] | undefined;
    return { parts: next ?? [{ text: "done" }] };
  });
  const env = { ...project.env, ...accountAt(provider) };
  const options = { roots: [project.root], env, provider: "anthropic", model: "m", mode: "edits" } as const;
  return { provider, opened: await openAgent(options) };
}

beforeAll(async () => {
  const settings = {
    permissions: [{ tool_pattern: "fs.apply_patch", mode: "deny", args: { path: "kept/**" } }],
  };
  mkdirSync(join(project.root, ".hanzo"), { recursive: true });
  writeFileSync(join(project.root, ".hanzo/settings.json"), JSON.stringify(settings));
  session = await openSession();
});

afterAll(async () => {
  await session.opened[Symbol.asyncDispose]();
  await session.provider[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

type Step = { call: string; input: object } | (() => void);

interface Row {
  readonly title: string;
  readonly file?: string;
  readonly before: string;
  /** The file is named `file` in the steps. */
  readonly steps: (file: string, change: (text: string | undefined) => () => void) => readonly Step[];
  readonly after: string;
  readonly error?: string;
}

const edit = (file_path: string, old_string: string, new_string: string, more: object = {}): Step => ({
  call: "Edit",
  input: { file_path, old_string, new_string, ...more },
});
const read = (file_path: string): Step => ({ call: "Read", input: { file_path } });
const write = (file_path: string, content: string): Step => ({
  call: "Write",
  input: { file_path, content },
});

const ROWS: readonly Row[] = [
  {
    title: "an unread file is edited where the old text occurs once",
    before: "a\nb\n",
    steps: (file) => [edit(file, "b", "c")],
    after: "a\nc\n",
  },
  {
    title: "an unread file is not edited where the old text occurs twice",
    before: "b\nb\n",
    steps: (file) => [edit(file, "b", "c")],
    after: "b\nb\n",
    error: "PATCH_FAILED",
  },
  {
    title: "an unread file is not edited where the old text is missing",
    before: "a\n",
    steps: (file) => [edit(file, "zzz", "c")],
    after: "a\n",
    error: "PATCH_FAILED",
  },
  {
    title: "all occurrences in an unread file need its hash",
    before: "b\nb\n",
    steps: (file) => [edit(file, "b", "c", { replace_all: true })],
    after: "b\nb\n",
    error: "PRECONDITION_REQUIRED",
  },
  {
    title: "all occurrences in a file that was read are replaced",
    before: "b\nb b\n",
    steps: (file) => [read(file), edit(file, "b", "c", { replace_all: true })],
    after: "c\nc c\n",
  },
  {
    title: "an edit by line number of an unread file needs its hash",
    before: "a\n",
    steps: (uri) => [
      { call: "fs", input: { action: "apply_patch", uri, patch: [{ op: "insert", line: 0, text: "x\n" }] } },
    ],
    after: "a\n",
    error: "PRECONDITION_REQUIRED",
  },
  {
    title: "a file that changed after it was read is not edited",
    before: "a\nb\n",
    steps: (file, change) => [read(file), change("changed\nb\n"), edit(file, "b", "c")],
    after: "changed\nb\n",
    error: "CONFLICT",
  },
  {
    title: "a file that was read is written anew",
    before: "a\r\nb\r\n",
    steps: (file) => [read(file), write(file, "x\ny\nz\n")],
    after: "x\r\ny\r\nz\r\n",
  },
  {
    title: "a file that was read is emptied",
    before: "a\n",
    steps: (file) => [read(file), write(file, "")],
    after: "",
  },
  {
    title: "an empty file that was read is written",
    before: "",
    steps: (file) => [read(file), write(file, "x\n")],
    after: "x\n",
  },
  {
    title: "an unread file is not written anew",
    before: "a\n",
    steps: (file) => [write(file, "x\n")],
    after: "a\n",
    error: "ALREADY_EXISTS",
  },
  {
    title: "a file that changed after it was read is not written anew",
    before: "a\n",
    steps: (file, change) => [read(file), change("changed\n"), write(file, "x\n")],
    after: "changed\n",
    error: "CONFLICT",
  },
  {
    title: "a file that was removed after it was read is created",
    before: "a\n",
    steps: (file, change) => [read(file), change(undefined), write(file, "x\n")],
    after: "x\n",
  },
  {
    title: "a rule that denies edits denies writing a file anew",
    file: "kept/row.txt",
    before: "a\n",
    steps: (file) => [read(file), write(file, "x\n")],
    after: "a\n",
    error: "PERMISSION_DENIED",
  },
  {
    title: "a patch that names its files itself uses what was read",
    before: "a\nb\n",
    steps: (file) => [
      read(file),
      {
        call: "apply_patch",
        input: { input: `*** Begin Patch\n*** Update File: ${file}\n@@\n a\n-b\n+c\n*** End Patch\n` },
      },
    ],
    after: "a\nc\n",
  },
  {
    title: "deleting an unread file by a patch needs its hash",
    before: "a\n",
    steps: (file) => [
      { call: "apply_patch", input: { input: `*** Begin Patch\n*** Delete File: ${file}\n*** End Patch\n` } },
    ],
    after: "a\n",
    error: "PRECONDITION_REQUIRED",
  },
];

test.for(ROWS.map((row, at) => ({ file: `row-${at}.txt`, ...row })))(
  "$title",
  async ({ file, before, steps, after, error }) => {
    const path = join(project.root, file);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, before);
    const change = (text: string | undefined) => () =>
      text === undefined ? rmSync(path) : writeFileSync(path, text);
    turns = steps(file, change).map((step) => (typeof step === "function" ? step : [step]));
    const codes: unknown[] = [];
    const stop = session.opened.agent.subscribe((event) => {
      if (event.type === "tool_ended" && event.is_error) codes.push(event.code);
    });
    await session.opened.agent.send(file);
    stop();
    expect(codes).toEqual(error === undefined ? [] : [error]);
    expect(existsSync(path) && readFileSync(path, "utf8")).toBe(after);
  },
);
