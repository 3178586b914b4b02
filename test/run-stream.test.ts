import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { RunRecord, toRunSchema } from "@octant/app";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { ended, startOctant } from "./octant-process.ts";
import { accountAt } from "./scripted-account.ts";

const isRecord = new Ajv2020({ strict: false, validateFormats: false }).compile(
  JSON.parse(readFileSync(join(import.meta.dirname, "../packages/app/run-stream.schema.json"), "utf8")),
);

type Line = Readonly<Record<string, unknown>> & { readonly type: string };

/** Runs the real command; every line of its stdout must match the published schema. */
async function stream(script: Script, args: readonly string[], input = "", over: NodeJS.ProcessEnv = {}) {
  await using provider = await createScriptedProvider(script);
  using project = createFixtureProject();
  const child = startOctant(["run", ...args, "--provider", "anthropic", "--model", "some-model"], {
    cwd: project.root,
    env: { ...project.env, ...accountAt(provider), ...over },
  });
  child.stdin.end(input);
  const { stdout, code, stderr } = await ended(child);
  const lines = stdout
    .trim()
    .split("\n")
    .map((line): Line => JSON.parse(line));
  for (const line of lines) expect(isRecord(line), JSON.stringify([line.type, isRecord.errors])).toBe(true);
  const results = lines.filter(({ type }) => type === "result");
  return { lines, results, code, stderr, requests: [...provider.requests] };
}

const READ: Script = ({ answers }) =>
  answers % 2 === 0
    ? { parts: [{ call: "fs", input: { action: "read", uri: "src/main.ts" } }] }
    : { parts: [{ text: `answer ${answers}` }] };

test("the last line of a stream is its only result, with the totals of this run and the exit code", async () => {
  const { lines, results, code } = await stream(READ, ["look", "--stream-json"]);
  expect(results).toHaveLength(1);
  expect(lines.at(-1)).toMatchObject({
    type: "result",
    format: 1,
    reason: "done",
    text: "answer 1",
    turns: 2,
    exit_code: 0,
    unapproved: [],
  });
  expect(code).toBe(0);
});

test.each([
  ["a slash command", ["/help", "--stream-json"], {}, { reason: "done", exit_code: 0 }],
  ["an unknown slash command", ["/nonsense", "--stream-json"], {}, { exit_code: 1 }],
  [
    "missing credentials",
    ["go", "--stream-json"],
    { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined },
    { reason: "failed", exit_code: 1, session_id: null },
  ],
  [
    "a session that does not exist",
    ["go", "--stream-json", "--resume", "ses_nope"],
    {},
    { reason: "failed", exit_code: 1 },
  ],
  ["wrong usage", ["go", "--stream-json", "--max-turns", "none"], {}, { reason: "failed", exit_code: 2 }],
  ["an unknown flag", ["go", "--stream-json", "--nonsense"], {}, { reason: "failed", exit_code: 2 }],
  ["an unknown choice", ["go", "--stream-json", "--mode", "none"], {}, { reason: "failed", exit_code: 2 }],
  ["a limit", ["go", "--stream-json", "--max-turns", "1"], {}, { reason: "max_turns", exit_code: 3 }],
] as const)("%s ends with exactly one result too", async (_, args, env, expected) => {
  const { results, code } = await stream(READ, args, "", env);
  expect(results).toHaveLength(1);
  expect(results[0]).toMatchObject(expected);
  expect(code).toBe(expected.exit_code);
});

test("calls that no one could approve are in the result", async () => {
  const write: Script = ({ answers }) =>
    answers === 0
      ? { parts: [{ call: "fs", input: { action: "write", uri: "new.txt", content: "x" } }] }
      : { parts: [{ text: "done" }] };
  const { results, code } = await stream(write, ["go", "--stream-json"]);
  expect(results).toMatchObject([{ unapproved: ["fs.write"], exit_code: 5 }]);
  expect(code).toBe(5);
  // Also those of the sub-agent of a command, with what it spent.
  const command = await stream(write, ["/code go", "--stream-json"]);
  expect(command.results).toMatchObject([{ unapproved: ["fs.write"], exit_code: 5, turns: 2, text: "done" }]);
  expect(command.results[0]?.tokens).toBeGreaterThan(0);
  expect(command.code).toBe(5);
});

test("messages on stdin are runs of one session, each with its own result; other lines are reported", async () => {
  const input = [
    JSON.stringify({ type: "message", text: "first" }),
    "no JSON",
    JSON.stringify({ type: "massage", text: "x" }),
    "",
  ].join("\n");
  const { lines, results, requests, code } = await stream(READ, ["zero", "--input-json"], input);
  expect(code).toBe(0);
  expect(results.length).toBeGreaterThanOrEqual(1);
  expect(new Set(results.map(({ session_id }) => session_id)).size).toBe(1);
  expect(results.reduce((sum, { turns }) => sum + Number(turns), 0)).toBe(requests.length);
  const [noJson, unknown, ...others] = lines.filter(({ type }) => type === "input_error");
  expect(noJson?.message).toMatch(/^the line is not JSON/);
  expect(unknown?.message).toMatch(/type/);
  expect(others).toEqual([]);
  expect(JSON.stringify(requests.at(-1)?.raw)).toContain("first");
});

test("an interrupt on stdin ends the run, and its result says so", async () => {
  await using provider = await createScriptedProvider([
    { parts: [{ text: "hello there" }], fault: { stall_after: 3 } },
  ]);
  using project = createFixtureProject();
  const args = ["run", "go", "--input-json", "--provider", "anthropic", "--model", "some-model"];
  const env = { ...project.env, ...accountAt(provider) };
  const child = startOctant(args, { cwd: project.root, env });
  const lines: Line[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(JSON.parse(line));
    if (lines.at(-1)?.type === "title") child.stdin.end(`${JSON.stringify({ type: "interrupt" })}\n`);
  }
  expect(lines.at(-1)).toMatchObject({ type: "result", reason: "cancelled", exit_code: 130 });
  expect(lines.filter(({ type }) => type === "result")).toHaveLength(1);
});

/** What readers of format 1 rely on. Add to it; never remove a line. */
const FORMAT_1: Readonly<Record<string, readonly string[]>> = {
  session_began: ["seq", "session_id", "at", "cwd", "model"],
  user: ["origin", "content"],
  text_delta: ["text"],
  message: ["message", "usage"],
  tool_began: ["call_id", "name", "title", "kind"],
  tool_ended: ["call_id", "name", "is_error", "content", "duration_ms"],
  permission_asked: ["permission_id", "call_id", "action"],
  notice: ["level", "text"],
  end: ["reason", "turns", "cost"],
  question: ["question"],
  input_error: ["message"],
  result: [
    ...["format", "session_id", "reason", "message", "text", "model", "provider", "turns", "tokens", "usage"],
    ...["cache_hit_rate", "cost", "duration_ms", "changed_files", "unapproved", "exit_code"],
  ],
};

test("format 1 keeps every type and field that it ever had", () => {
  const { oneOf } = toRunSchema().$defs.record as {
    oneOf: { properties: Record<string, { const?: string }>; required: string[] }[];
  };
  for (const [type, fields] of Object.entries(FORMAT_1)) {
    const found = oneOf.find(({ properties }) => properties["type"]?.const === type);
    expect(found?.required, type).toEqual(expect.arrayContaining([...fields]));
  }
  expect(RunRecord.safeParse({ type: "a future type" }).success).toBe(false);
});
