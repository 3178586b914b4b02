import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Access,
  action,
  createCursors,
  createDispatcher,
  createRegistry,
  defineTool,
  type Step,
  ToolError,
} from "@octant/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { createRedactor, REDACTED } from "../redact/redactor.ts";
import { createAuditLog } from "./audit-log.ts";
import { readAudit } from "./read.ts";
import { recordCall } from "./record-call.ts";
import { recordRejected } from "./record-rejected.ts";
import { toAuditKey } from "./seal.ts";

const KEY = toAuditKey(Buffer.alloc(32, 7));
const SECRET = "planted-secret-42";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-audit-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function createBox(
  options: { how?: "hash" | "full"; policy?: Step[]; broken?: true; mode?: "inspect" } = {},
) {
  const ran: string[] = [];
  const make = (access: Access) =>
    action({
      summary: "Do it.",
      access,
      timing: "sync",
      intent: access === "read" ? "inspect" : "apply",
      input: z.strictObject({
        text: z.string().default(""),
        env: z.record(z.string(), z.string()).default({}),
      }),
      output: z.object({ done: z.boolean() }),
      examples: [{ title: "Do it", input: {} }],
      run({ text }) {
        ran.push(access);
        if (text === "missing") throw new ToolError("NOT_FOUND", "there is none", {});
        if (text === "bug") throw new TypeError("oops");
        return { done: true };
      },
    });
  const box = defineTool({
    name: "box",
    summary: "A box.",
    actions: { look: make("read"), put: make("write") },
  });
  const log = createAuditLog({
    folder: options.broken ? join(folder, "missing") : folder,
    key: KEY,
    warn: () => {},
  });
  const recording = {
    log,
    redact: createRedactor({ secrets: [SECRET] }),
    arguments: options.how ?? "hash",
  } as const;
  const dispatch = createDispatcher({
    registry: createRegistry([box]),
    cursors: createCursors(Buffer.alloc(32)),
    audit: recordCall(recording),
    onRejected: recordRejected(recording),
    policy: options.policy ?? [],
    ...(options.mode && { mode: options.mode }),
    onBug: () => {},
  });
  const call = async (
    name: unknown,
    input: unknown = {},
    more: { tool?: string; signal?: AbortSignal } = {},
  ) =>
    (
      await dispatch(
        { tool: more.tool ?? "box", action: name, input },
        {
          caller: { id: "me", access: "admin" },
          traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
          ...(more.signal && { signal: more.signal }),
        },
      )
    ).envelope;
  const records = async () => {
    log.flush();
    return (await readAudit(folder)).filter(({ kind }) => kind === "call");
  };
  return { call, records, ran };
}

test("a call is recorded with its caller, action, decisions, outcome and duration", async () => {
  const decide: Step = (_call, ctx, next) => {
    ctx.decided({
      step: "permission",
      outcome: "allow",
      rule: "box.*",
      tier: "user",
      reason: `for ${SECRET}`,
    });
    return next();
  };
  const box = createBox({ policy: [decide] });
  await box.call("look", { text: "hello" });
  expect(await box.records()).toEqual([
    {
      seq: 2,
      prev: expect.stringMatching(/^[\w-]{43}$/),
      kind: "call",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      trace: "a".repeat(32),
      session: "me",
      caller: "me",
      action: "box.look",
      decisions: [
        { step: "permission", outcome: "allow", rule: "box.*", tier: "user", reason: `for ${REDACTED}` },
      ],
      code: "OK",
      duration: expect.any(Number),
      arguments_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      hash: expect.stringMatching(/^[\w-]{43}$/),
      chain: expect.any(String),
    },
  ]);
});

test("failures and refusals are recorded with their code, and reach the caller unchanged", async () => {
  const box = createBox();
  expect((await box.call("look", { text: "missing" })).error?.message).toBe("there is none");
  await box.call("look", { text: "bug" });
  const strict = createBox({ mode: "inspect" });
  expect((await strict.call("put")).error?.code).toBe("PERMISSION_DENIED");
  const codes = async (recorded: typeof box) =>
    (await recorded.records()).flatMap((record) => (record.kind === "call" ? [record.code] : []));
  expect(await codes(box)).toEqual(expect.arrayContaining(["NOT_FOUND", "INTERNAL"]));
  expect((await codes(strict)).toSorted()).toEqual(["INTERNAL", "NOT_FOUND", "PERMISSION_DENIED"]);
});

test("invalid calls are recorded too: bad arguments, no such action, no such tool, a call cancelled before it began", async () => {
  const box = createBox();
  await box.call("look", { txt: "hello" });
  await box.call("shout");
  await box.call(undefined);
  await box.call("look", {}, { tool: "bax" });
  await box.call("put", {}, { signal: AbortSignal.abort() });
  const records = await box.records();
  expect(records.map((record) => record.kind === "call" && [record.action, record.code])).toEqual([
    ["box.look", "INVALID_ARGUMENT"],
    ["box.shout", "UNKNOWN_ACTION"],
    ["box.", "UNKNOWN_ACTION"],
    ["bax.look", "UNKNOWN_TOOL"],
    ["box.put", "CANCELLED"],
  ]);
  expect(records[0]).toMatchObject({
    caller: "me",
    trace: "a".repeat(32),
    arguments_hash: expect.stringMatching(/^sha256:/),
  });
  expect(box.ran).toEqual([]);
});

test("whatever is sent instead of a call, its record is short and holds no secret", async () => {
  const box = createBox({ how: "full" });
  let deep: unknown = SECRET;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  const endless: Record<string, unknown> = { [SECRET]: SECRET, password: "hunter2" };
  endless["self"] = endless;
  const inputs = [
    deep,
    endless,
    `${"x".repeat(64 * 1024 - 5)}${SECRET}`,
    [..."x".repeat(1_000_000)],
    null,
    5,
  ];
  for (const input of inputs) await box.call("look", { input });
  await box.call(`${SECRET}${"x".repeat(1_000_000)}`, SECRET);
  await box.call(SECRET, { __proto__: null, text: 10n, constructor: Symbol("s") });
  const records = await box.records();
  expect(records).toHaveLength(inputs.length + 2);
  const told = JSON.stringify(records);
  expect(told).not.toContain(SECRET.slice(0, 9));
  expect(told).not.toContain("hunter2");
  for (const record of records) expect(JSON.stringify(record).length).toBeLessThan(100 * 1024);
});

test("a change is on disk before it runs, and its outcome soon after its answer", async () => {
  const seen: string[][] = [];
  const look: Step = async (_call, _ctx, next) => {
    seen.push((await readAudit(folder)).map(({ kind }) => kind));
    return next();
  };
  const box = createBox({ policy: [look] });
  await box.call("put");
  expect(seen.map((kinds) => kinds.toSorted())).toEqual([["begin", "open"]]);
  await expect
    .poll(async () => (await readAudit(folder)).map(({ kind }) => kind).toSorted())
    .toEqual(["call", "open"]);
});

test("where nothing can be recorded, reading continues and changes are refused before they begin", async () => {
  const box = createBox({ broken: true });
  expect((await box.call("put")).error?.code).toBe("IO_ERROR");
  expect(await box.call("look")).toMatchObject({ ok: true });
  expect(box.ran).toEqual(["read"]);
});

test("the same arguments have the same hash in any order", async () => {
  const box = createBox();
  await box.call("look", { text: "a", env: { X: "1", Y: "2" } });
  await box.call("look", { env: { Y: "2", X: "1" }, text: "a" });
  await box.call("look", { text: "b", env: { X: "1", Y: "2" } });
  const hashes = (await box.records()).map((record) => record.kind === "call" && record.arguments_hash);
  expect(hashes[0]).toBe(hashes[1]);
  expect(hashes[2]).not.toBe(hashes[0]);
});

test("full arguments contain no secrets and are bounded", async () => {
  const box = createBox({ how: "full" });
  await box.call("look", { text: `a ${SECRET} b`, env: { DB_PASSWORD: "hunter2", EDITOR: "vi" } });
  await box.call("look", { text: `${"x".repeat(32 * 1024 - 5)}${SECRET}${"y".repeat(1_000_000)}` });
  const [small, large] = await box.records();
  expect(small).toMatchObject({
    arguments: { text: `a ${REDACTED} b`, env: { DB_PASSWORD: REDACTED, EDITOR: "vi" } },
  });
  expect(large).not.toHaveProperty("arguments");
  const cut = large && "arguments_cut" in large ? String(large.arguments_cut) : "";
  expect(cut.length).toBe(32 * 1024);
  expect(cut).not.toContain(SECRET.slice(0, 4));
});

test("the outcome of a change is on disk with the next change, or soon after its answer", async () => {
  const box = createBox();
  const ended = () => readAudit(folder).filter(({ kind }) => kind === "call").length;
  await box.call("put");
  await box.call("put");
  expect(ended()).toBeGreaterThanOrEqual(1);
  await expect.poll(ended).toBe(2);
});
