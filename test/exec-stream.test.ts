import { createOctant } from "@octant/app";
import type { Envelope, StreamChunk } from "@octant/core";
import { describe, expect, test } from "vitest";
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

describe("the stream of a command has all its output, or says how much is missing", () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => `${n + 1}\n`).join("");
  test.each<[string, string, string]>([
    ["one that ends at once", "printf quick", "quick"],
    ["one that prints much at once", "seq 300000", numbers(300_000)],
    ["one that prints much after a pause", "sleep 0.3; seq 300000", numbers(300_000)],
    [
      "one that splits its characters",
      "printf '\\303'; sleep 0.1; printf '\\244|\\342\\202'; sleep 0.1; printf '\\254'",
      "ä|€",
    ],
    ["one that splits its escapes", "printf '\\033[3'; sleep 0.1; printf '1mred\\033[0m'", "red"],
  ])("%s", async (_name, command, output) => {
    using project = createFixtureProject();
    await using octant = createOctant({ projectPath: project.root, env: project.env });
    const chunks: StreamChunk[] = [];
    const { envelope } = await octant.dispatch(
      { tool: "proc", action: "exec", input: { command } },
      { caller: { id: "me", access: "admin" }, onStream: (chunk) => chunks.push(chunk) },
    );
    expect(envelope).toMatchObject({ ok: true, data: { exit_code: 0 } });
    expect(chunks.map((chunk) => (chunk.kind === "text" ? chunk.text : "")).join("") === output).toBe(true);
    expect(chunks.filter(({ kind }) => kind === "missing")).toEqual([]);
  });

  test("one that prints faster than it can be reported", async () => {
    using project = createFixtureProject();
    await using octant = createOctant({ projectPath: project.root, env: project.env });
    let bytes = 0;
    let missing = 0;
    const size = 100 * 1024 * 1024;
    await octant.dispatch(
      { tool: "proc", action: "exec", input: { command: `yes | head -c ${size}` } },
      {
        caller: { id: "me", access: "admin" },
        onStream(chunk) {
          if (chunk.kind === "text") bytes += chunk.text.length;
          if (chunk.kind === "missing") missing += chunk.bytes ?? 0;
        },
      },
    );
    expect(bytes + missing).toBe(size);
  });
});
