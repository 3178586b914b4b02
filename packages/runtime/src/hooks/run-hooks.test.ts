import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { action, createCursors, createDispatcher, createRegistry, defineTool, type Step } from "@octant/core";
import { createConfinement, createProcesses, type Processes } from "@octant/host";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { createRedactor, REDACTED } from "../redact/redactor.ts";
import { HookSettings, isCallHook } from "./hook.ts";
import { runHooks } from "./run-hooks.ts";
import { createHookRunner } from "./runner.ts";

const SECRET = "planted-secret-42";

let base: string;
let root: string;
let processes: Processes;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-hooks-")));
  mkdirSync(join(base, "processes"));
  processes = createProcesses({
    folder: join(base, "processes"),
    env: { PATH: process.env["PATH"], HOME: base, GITHUB_TOKEN: SECRET },
  });
});
afterAll(async () => {
  await processes.close();
  rmSync(base, { recursive: true, force: true });
});
beforeEach(() => {
  root = mkdtempSync(join(base, "root-"));
});

type HookInput = z.input<typeof HookSettings>;
const before = (command: string, more: Partial<HookInput> = {}): HookInput => ({
  event: "pre_tool_use",
  tool_pattern: "fs",
  command,
  ...more,
});
const after = (command: string): HookInput => before(command, { event: "post_tool_use" });

/** A dispatcher whose only policy are these hooks. */
function createBox(hooks: readonly HookInput[], outer: readonly Step[] = []) {
  const lines: string[] = [];
  const ran: unknown[] = [];
  const runner = createHookRunner({
    processes,
    confinement: createConfinement([root]),
    redact: createRedactor({ secrets: [SECRET] }),
    log: (line) => lines.push(line),
  });
  const step = runHooks({ hooks: hooks.map((hook) => HookSettings.parse(hook)), runner });
  const fs = defineTool({
    name: "fs",
    summary: "Files.",
    actions: {
      read: action({
        summary: "Read.",
        access: "read",
        timing: "sync",
        intent: "inspect",
        input: z.strictObject({ uri: z.string() }),
        output: z.object({ text: z.string() }),
        examples: [{ title: "Read", input: { uri: "a" } }],
        run({ uri }) {
          ran.push(uri);
          return { text: `<${uri}>` };
        },
      }),
    },
  });
  const bugs: unknown[] = [];
  const dispatch = createDispatcher({
    registry: createRegistry([fs]),
    cursors: createCursors(Buffer.alloc(32)),
    policy: [...outer, step],
    onBug: ({ cause }) => bugs.push(cause),
  });
  const call = async (uri = "a.txt", signal?: AbortSignal) => {
    const given = { caller: { id: "me", access: "admin" }, ...(signal && { signal }) } as const;
    const { envelope } = await dispatch({ tool: "fs", action: "read", input: { uri } }, given);
    expect(bugs).toEqual([]);
    return envelope;
  };
  return { call, lines, ran, close: () => runner.close() };
}

const inRoot = (name: string) => readFileSync(join(root, name), "utf8");

interface Vector {
  readonly name: string;
  readonly event: HookInput["event"];
  readonly command: string;
  readonly timeout_ms?: number;
  readonly expect: { readonly runs: boolean; readonly reason?: string; readonly logged?: boolean };
}
const FILE = join(import.meta.dirname, "../../../../vectors/hook-exit-codes.json");
const { vectors } = JSON.parse(readFileSync(FILE, "utf8")) as { vectors: Vector[] };

test.each(vectors)("vector: $name", async ({ name: _name, expect: expected, ...hook }) => {
  const box = createBox([{ tool_pattern: "fs.*", ...hook }]);
  const envelope = await box.call();
  await box.close();
  expect(box.ran.length > 0).toBe(expected.runs);
  if (expected.runs) expect(envelope).toMatchObject({ ok: true, data: { text: "<a.txt>" } });
  else
    expect(envelope.error).toMatchObject({
      code: "PERMISSION_DENIED",
      details: { by: "hook", rule: "fs.*" },
    });
  if (expected.reason) expect(envelope.error?.message).toContain(expected.reason);
  if (expected.logged !== undefined) expect(box.lines.length > 0, box.lines.join()).toBe(expected.logged);
});

test("a hook gets the call in its environment and on stdin, in the first root, with little else", async () => {
  const box = createBox([before("env > env; cat > stdin; pwd > pwd"), after("env > env2; cat > stdin2")]);
  await box.call("ü");
  await box.close();
  expect(inRoot("pwd").trim()).toBe(root);
  expect(JSON.parse(inRoot("stdin"))).toEqual({ uri: "ü" });
  expect(JSON.parse(inRoot("stdin2"))).toEqual({ input: { uri: "ü" }, output: { text: "<ü>" } });
  const lines = inRoot("env").split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      "HANZO_TOOL_NAME=fs.read",
      'HANZO_TOOL_INPUT={"uri":"ü"}',
      "HANZO_SESSION_ID=me",
    ]),
  );
  expect(inRoot("env")).not.toMatch(/HANZO_TOOL_OUTPUT|TRUNCATED/);
  expect(inRoot("env2").split("\n")).toContain('HANZO_TOOL_OUTPUT={"text":"<ü>"}');
  expect(inRoot("env") + inRoot("env2")).not.toContain(SECRET);
});

test("an input too long for a variable is cut there between characters, and whole on stdin", async () => {
  const box = createBox([
    before('printf %s "$HANZO_TOOL_INPUT" > cut; echo "$HANZO_TOOL_INPUT_TRUNCATED" > mark; cat > stdin'),
  ]);
  const uri = "€".repeat(100_000);
  expect(await box.call(uri)).toMatchObject({ ok: true });
  const whole = JSON.stringify({ uri });
  expect(JSON.parse(inRoot("stdin"))).toEqual({ uri });
  expect(inRoot("mark").trim()).toBe("1");
  expect(whole.startsWith(inRoot("cut"))).toBe(true);
  const bytes = Buffer.byteLength(inRoot("cut"));
  expect(bytes).toBeLessThanOrEqual(64 * 1024);
  expect(bytes).toBeGreaterThan(64 * 1024 - 3);
});

test("hooks run in order until the first refusal; those for other tools do not run", async () => {
  const box = createBox([
    before("echo 1 >> order"),
    before("echo x >> order", { tool_pattern: "proc" }),
    before("echo 2 >> order; exit 2"),
    before("echo 3 >> order"),
    after("echo 4 >> order"),
  ]);
  expect(await box.call()).toMatchObject({ ok: false });
  await box.close();
  expect(inRoot("order")).toBe("1\n2\n");
});

test("a reason is one bounded line without secrets or control characters", async () => {
  const text = `\\033[31mno\\n${SECRET.slice(0, 6)}\\000${SECRET.slice(6)}\\n`;
  const box = createBox([before(`printf '${text}' >&2; head -c 9000 /dev/zero | tr '\\0' x >&2; exit 2`)]);
  const { error } = await box.call();
  expect(error?.message).toMatch(/^fs\.read is denied by a hook: \[31mno \[redacted\] x{900,1000}…$/);
  expect(error?.message).toContain(REDACTED);
  expect(error?.details).toMatchObject({ by: "hook", rule: "fs", reason: expect.stringContaining(REDACTED) });
});

test("the decision is recorded for the audit log", async () => {
  const seen: unknown[] = [];
  const look: Step = (_call, ctx, next) =>
    next().finally(() => {
      seen.push(...ctx.decisions);
    });
  const box = createBox([before("true"), before("echo why >&2; exit 2")], [look]);
  await box.call();
  expect(seen).toEqual([
    { step: "hook", outcome: "allow", rule: "fs" },
    { step: "hook", outcome: "deny", rule: "fs", reason: "why" },
  ]);
});

test("a hook whose time is up is ended with all that it started", async () => {
  const box = createBox([before("sleep 61 & echo $! > pid; wait", { timeout_ms: 2_000 })]);
  expect((await box.call()).error?.message).toMatch(/longer than 2,?000 ms/);
  const pid = Number(inRoot("pid"));
  await expect.poll(() => existsSync(`/proc/${pid}/cwd`)).toBe(false);
});

test("a cancelled call ends the hook that it waits for", async () => {
  const box = createBox([before("echo $$ > pid; exec sleep 62", { timeout_ms: 60_000 })]);
  const stop = new AbortController();
  const answer = box.call("a", stop.signal);
  await expect.poll(() => existsSync(join(root, "pid")) && inRoot("pid") !== "").toBe(true);
  stop.abort();
  expect((await answer).error?.code).toBe("CANCELLED");
  await expect.poll(() => existsSync(`/proc/${Number(inRoot("pid"))}/cwd`)).toBe(false);
  expect(box.ran).toEqual([]);
});

test("only close waits for hooks after a call, which run in the order of the calls", async () => {
  const box = createBox([
    after('until [ -e go ]; do sleep 0.02; done; printf %s "$HANZO_TOOL_INPUT" >> told'),
  ]);
  for (const uri of ["a", "b", "c"]) expect(await box.call(uri)).toMatchObject({ ok: true });
  expect(existsSync(join(root, "told"))).toBe(false);
  mkdirSync(join(root, "go"));
  await box.close();
  expect(inRoot("told")).toBe('{"uri":"a"}{"uri":"b"}{"uri":"c"}');
  expect(box.lines).toEqual([]);
});

test("close ends slow hooks, and reports the calls they did not get", async () => {
  const lines: string[] = [];
  const runner = createHookRunner({
    processes,
    confinement: createConfinement([root]),
    redact: (text) => text,
    log: (line) => lines.push(line),
    closeMs: 50,
  });
  const hook = HookSettings.parse(after("sleep 63"));
  for (const name of ["fs.read", "fs.list"])
    runner.notify([hook].filter(isCallHook), { name, session: "s", input: {}, answer: { output: 1 } });
  await runner.close();
  expect(lines).toEqual([
    "the post_tool_use hook for fs failed at fs.read: the server was closed",
    "the post_tool_use hook for fs failed at fs.list: the server was closed",
  ]);
});
