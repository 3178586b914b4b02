import { once } from "node:events";
import { createInterface } from "node:readline";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { startOctant } from "./octant-process.ts";
import { accountAt } from "./scripted-account.ts";
import { mayMount, mountSmallDisk } from "./small-disk.ts";

/** More than the rest of the last page of the session's log, which a full disk still takes. */
const LONG = "long ".repeat(2_000);

type Line = Readonly<Record<string, unknown>>;

/** Runs the real command with its state on a small disk, which is full from this answer of the model on. */
async function stream(fullAt: number, ...messages: readonly string[]) {
  using project = createFixtureProject();
  using disk = mountSmallDisk(project.env["XDG_STATE_HOME"] ?? "");
  if (fullAt < 0) disk.fill();
  const script: Script = ({ answers }) => {
    if (answers === fullAt) disk.fill();
    return answers === 0
      ? { parts: [{ call: "fs", input: { action: "read", uri: "src/main.ts" } }] }
      : { parts: [{ text: LONG }] };
  };
  await using provider = await createScriptedProvider(script);
  const form = messages.length > 0 ? "--input-json" : "--stream-json";
  const child = startOctant(["run", "look", form, "--provider", "anthropic", "--model", "some-model"], {
    cwd: project.root,
    env: { ...project.env, TMPDIR: project.env["HOME"], ...accountAt(provider) },
  });
  const exited = once(child, "exit");
  child.stderr.resume();
  if (messages.length === 0) child.stdin.end();
  const lines: Line[] = [];
  const results: Line[] = [];
  for await (const text of createInterface({ input: child.stdout })) {
    const line: Line = JSON.parse(text);
    lines.push(line);
    if (line["type"] !== "result") continue;
    const next = messages[results.push(line) - 1];
    // A run that failed ends the command, also while its caller keeps stdin open.
    if (next !== undefined) child.stdin.write(`${JSON.stringify({ type: "message", text: next })}\n`);
  }
  const [code] = await exited;
  return { lines, results, code };
}

test.skipIf(!mayMount)(
  "a run on a full state disk keeps its state elsewhere and has one result",
  async () => {
    const { lines, results, code } = await stream(-1);
    expect(results).toHaveLength(1);
    expect(lines.at(-1)).toMatchObject({ type: "result", reason: "done", turns: 2, exit_code: 0 });
    expect(code).toBe(0);
  },
);

test.skipIf(!mayMount).each([
  ["first answer", 0],
  ["answer after a call", 1],
])(
  "a disk that fills before the %s fails the run with one result, which has its session and turns",
  async (_, fullAt) => {
    const { lines, results, code } = await stream(fullAt);
    expect(results).toHaveLength(1);
    expect(lines.at(-1)).toMatchObject({
      type: "result",
      session_id: lines[0]?.["session_id"],
      reason: "failed",
      message: expect.stringContaining("the disk is full"),
      model: "some-model",
      turns: 1,
      exit_code: 1,
    });
    expect(code).toBe(1);
  },
);

test.skipIf(!mayMount)(
  "a later run of the same stream that meets a full disk has a result of its own",
  async () => {
    const { results, code } = await stream(2, "again");
    expect(results.map(({ reason }) => reason)).toEqual(["done", "failed"]);
    expect(code).toBe(1);
  },
);
