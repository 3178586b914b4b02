import { createOctant } from "@octant/cli";
import type { Envelope } from "@octant/core";
import { expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";

test("a command that outlives the wait is a job with a result, and only its owner sees the output", async () => {
  using project = createFixtureProject();
  await using octant = createOctant({ projectPath: project.root, env: project.env });
  const caller = { id: "me", access: "admin" } as const;
  const call = async (tool: string, action: string, input: object, more: object = {}): Promise<Envelope> =>
    (await octant.dispatch({ tool, action, input }, { caller, ...more })).envelope;

  const command = "echo first; read line; echo second";
  const started = await call("proc", "exec", { command, wait_for: { pattern: "first" }, wait: 20_000 });
  const { job_id } = started.meta;
  const { proc_id, stdout_ref } = started.data as { proc_id: string; stdout_ref: string };
  expect(started.data).toMatchObject({ status: "running", ready: true });

  await call("proc", "input", { proc_id, text: "go\n" });
  const ended = await call("job", "poll", { job_id });
  expect(ended.data).toMatchObject({
    job: { state: "complete" },
    result: { data: { exit_code: 0, stdout: "first\nsecond\n" } },
  });

  expect((await call("fs", "read", { uri: stdout_ref })).data).toMatchObject({ text: "first\nsecond\n" });
  const somebody = { caller: { id: "you", access: "admin" } };
  expect((await call("fs", "read", { uri: stdout_ref }, somebody)).error?.code).toBe("NOT_FOUND");
});

test("a long-running command streams its lines in the job's events", async () => {
  using project = createFixtureProject();
  await using octant = createOctant({ projectPath: project.root, env: project.env });
  const { dispatch } = octant;
  const options = { caller: { id: "me", access: "admin" } } as const;
  const start = {
    tool: "proc",
    action: "exec",
    input: { command: "read a; echo one; read b; echo two", background: true },
  };
  const { data, meta } = (await dispatch(start, options)).envelope;
  const { proc_id } = data as { proc_id: string };
  const type = (text: string) =>
    dispatch({ tool: "proc", action: "input", input: { proc_id, text } }, options);
  const told: string[] = [];
  let from_seq = 0;
  await type("\n");
  while (!told.join("").includes("one")) from_seq = await follow();
  await type("\n");
  while (!told.join("").includes("two")) from_seq = await follow();

  async function follow(): Promise<number> {
    const poll = { tool: "job", action: "poll", input: { job_id: meta.job_id, from_seq } };
    const { events, next_seq } = (await dispatch(poll, options)).envelope.data as {
      events: { chunk?: { kind: string; text?: string } }[];
      next_seq: number;
    };
    for (const { chunk } of events) if (chunk?.kind === "text") told.push(chunk.text ?? "");
    return next_seq;
  }
  expect(told.join("")).toBe("one\ntwo\n");
});
