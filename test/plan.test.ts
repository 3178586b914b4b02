import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "@octant/agent";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { startSession } from "./mcp-session.ts";
import { callOctant } from "./octant-in-process.ts";
import { accountAt } from "./scripted-account.ts";

test("a plan stores steps, order and verified evidence, and survives a restart", async () => {
  using project = createFixtureProject();
  const { root: cwd, env } = project;
  writeFileSync(join(cwd, "one.test.mjs"), 'import { test } from "node:test";\ntest("one", () => {});\n');
  execFileSync("git", ["add", "--all"], { cwd, env });
  execFileSync("git", ["commit", "--quiet", "--message=Add a test\n\nbody"], { cwd, env });
  let plan_id = "";
  {
    await using session = await startSession(["--tools", "plan,test,job"], { cwd, env });
    const plan = (action: string, input: object = {}) => session.call("plan", { action, ...input });
    expect(await plan("get")).toMatchObject({ error: { code: "NOT_FOUND" } });
    const made = await plan("create", {
      title: "Fix it",
      steps: [
        { content: "Write a test" },
        { step_id: "mend", content: "Mend it", depends_on: ["1"] },
        { content: "Tell people", depends_on: ["mend"] },
      ],
    });
    expect(made.data).toMatchObject({
      state: "pending",
      steps: [{ step_id: "1", state: "pending" }, { step_id: "mend", depends_on: ["1"] }, { step_id: "3" }],
    });
    plan_id = String(made.data?.["plan_id"]);
    const early = await plan("update", { changes: [{ step_id: "mend", state: "in_progress" }] });
    expect(early.error).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "step 'mend' waits for '1' (pending); complete or skip that first",
    });
    const circle = await plan("update", { plan_id, changes: [{ step_id: "1", depends_on: ["3"] }] });
    expect(circle.error?.message).toContain("steps wait for each other: 1 → 3 → mend → 1");
    const invented = await plan("update", {
      changes: [{ step_id: "1", state: "completed", evidence: [{ kind: "commit", ref: "feedface" }] }],
    });
    expect(invented).toMatchObject({ error: { code: "NOT_FOUND" } });
    const started = await session.call("test", { action: "run" });
    const polled = await session.call("job", {
      action: "poll",
      job_id: started.meta["job_id"],
      wait: 50_000,
    });
    const { result } = polled.data as { result: { data: { run_id: string } } };
    const done = await plan("update", {
      changes: [
        {
          step_id: "1",
          state: "completed",
          evidence: [
            { kind: "test", ref: result.data.run_id },
            { kind: "commit", ref: "HEAD" },
            { kind: "note", ref: "seen by eye" },
          ],
        },
        { step_id: "mend", state: "in_progress" },
      ],
      add: [{ content: "Rest" }],
      remove: ["3"],
    });
    expect(done.data, JSON.stringify(done.error)).toMatchObject({
      state: "in_progress",
      steps: [
        {
          state: "completed",
          evidence: [
            { kind: "test", result: "passed: 1 passed, 0 failed, 0 skipped" },
            { kind: "commit", ref: expect.stringMatching(/^[0-9a-f]{40}$/), result: "Add a test" },
            { kind: "note", ref: "seen by eye" },
          ],
        },
        { step_id: "mend", state: "in_progress" },
        { step_id: "3", content: "Rest" },
      ],
    });
  }
  await using session = await startSession(["--tools", "plan"], { cwd, env });
  const listed = await session.call("plan", { action: "list" });
  expect(listed.data).toMatchObject({ plans: [{ plan_id, title: "Fix it", done: 1, total: 3 }] });
  await session.call("plan", { action: "create", title: "Another", steps: [{ content: "x" }] });
  const first = await session.call("plan", { action: "list", limit: 1 });
  const { cursor } = first.meta["paging"] as { cursor: string };
  expect((await session.call("plan", { action: "list", limit: 1, cursor })).data).toMatchObject({
    plans: [{ plan_id }],
  });
  expect((await session.call("plan", { action: "get", plan_id })).data).toMatchObject({ title: "Fix it" });
});

/** The agent plans two steps and completes one. */
const PLANNING: Script = ({ answers }) => {
  if (answers === 0)
    return {
      parts: [
        {
          call: "plan",
          input: { action: "create", title: "Two", steps: [{ content: "a" }, { content: "b" }] },
        },
      ],
    };
  if (answers === 1)
    return {
      parts: [
        {
          call: "plan",
          input: {
            action: "update",
            changes: [
              { step_id: "1", state: "completed" },
              { step_id: "2", state: "in_progress" },
            ],
          },
        },
      ],
    };
  return { parts: [{ text: "planned" }] };
};

test("the agent plans without approval, and every change of its plan is an event", async () => {
  using project = createFixtureProject();
  await using provider = await createScriptedProvider(PLANNING);
  const ran = await callOctant(
    ["run", "go", "--provider", "anthropic", "--model", "m", "--mode", "inspect", "--stream-json"],
    {
      cwd: project.root,
      env: {
        ...project.env,
        ...accountAt(provider),
      },
    },
  );
  expect(ran.code, ran.stderr).toBe(0);
  const events: AgentEvent[] = ran.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const marks = events.flatMap((event) =>
    event.type === "mark" && event.name === "plan" ? [event.data] : [],
  );
  expect(marks).toMatchObject([
    { title: "Two", entries: [{ content: "a", status: "pending" }, { status: "pending" }] },
    { title: "Two", entries: [{ content: "a", status: "completed" }, { status: "in_progress" }] },
  ]);
  expect(provider.requests[2]?.results[0]?.text).toContain("[x] 1 a\n[>] 2 b");
});
