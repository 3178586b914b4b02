import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Ask,
  createCursors,
  createDispatcher,
  createQuestions,
  createRegistry,
  type DecisionNote,
  defineTool,
  type PermissionQuestion,
  type QuestionAnswer,
  type Questions,
  type Step,
  toOwnerId,
} from "@octant/core";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { TIERS } from "../config/config.ts";
import { type CheckPermissionOptions, checkPermission } from "./check-permission.ts";
import { createPolicy } from "./policy.ts";
import { PERMISSION_MODES, type PermissionRule } from "./rule.ts";
import { SessionAnswers } from "./session-answers.ts";
import { toAction } from "./testing/vectors.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "octant-permission-")));
mkdirSync(join(root, "src"));
afterAll(() => rmSync(root, { recursive: true }));
const places = { roots: [root] };

const things = defineTool({
  name: "things",
  summary: "Things.",
  actions: {
    look: toAction({ uri: "path" }, { access: "read", intent: "inspect" }),
    fetch: toAction({ url: "host" }, { access: "read", intent: "inspect", openWorld: true }),
    write: toAction({ uri: "path" }),
    exec: toAction({ command: "command" }),
    shown: { ...toAction({ uri: "path" }), preview: async () => "-a\n+b" },
    broken: {
      ...toAction({ uri: "path" }),
      preview: async () => {
        throw new Error("cannot be told");
      },
    },
  },
});

interface Setup extends Partial<CheckPermissionOptions> {
  readonly rules?: readonly PermissionRule[];
  readonly answers?: readonly QuestionAnswer[];
  /** Instead of answers. */
  readonly ask?: Ask;
  readonly questions?: Questions;
}

function setUp({ rules = [], answers, ask, questions = createQuestions(), ...options }: Setup = {}) {
  const asked: PermissionQuestion[] = [];
  const notes: (readonly DecisionNote[])[] = [];
  const left = [...(answers ?? [])];
  const listen: Step = (_call, ctx, next) => {
    notes.push(ctx.decisions);
    return next();
  };
  const answering: Ask = async (question) => {
    if (question.kind === "permission") asked.push(question);
    return left.shift();
  };
  const step = checkPermission({
    policy: createPolicy([{ tier: "user", rules }], places),
    permissions: "enforce",
    session: new SessionAnswers(places),
    ...options,
  });
  const dispatch = createDispatcher({
    registry: createRegistry([things]),
    cursors: createCursors(Buffer.from("test")),
    policy: [listen, step],
    questions,
    onBug: ({ cause }) => {
      throw cause;
    },
  });
  const call = async (action: string, input: object, id = "me", signal?: AbortSignal) =>
    (
      await dispatch(
        { tool: "things", action, input },
        { caller: { id, access: "admin" }, ask: ask ?? answering, ...(signal && { signal }) },
      )
    ).envelope;
  return { call, asked, notes };
}

const allow = (tool_pattern: string): PermissionRule => ({ tool_pattern, mode: "allow" });

test("a call that a rule allows runs without a question, and the decision is noted with its rule", async () => {
  const { call, asked, notes } = setUp({ rules: [allow("things.write")], answers: [] });
  expect(await call("write", { uri: "src/a" })).toMatchObject({ ok: true, data: "done" });
  expect(asked).toEqual([]);
  expect(notes).toMatchObject([
    [{ step: "permission", outcome: "allow", rule: "allow things.write", tier: "user" }],
  ]);
});

test("a deny rule stops a call in both settings, and its reason is reported", async () => {
  const rules = [{ tool_pattern: "things.write", mode: "deny", reason: "read only today" }] as const;
  for (const permissions of ["host", "enforce"] as const) {
    const { call, notes } = setUp({ rules, permissions });
    expect(await call("write", { uri: "src/a" })).toMatchObject({
      ok: false,
      error: {
        code: "PERMISSION_DENIED",
        message: expect.stringContaining("read only today"),
        details: { by: "permission", rule: "deny things.write" },
      },
    });
    expect(notes).toMatchObject([[{ outcome: "deny", tier: "user" }]]);
  }
});

test("under a host a question passes, because the host asks it", async () => {
  const { call, asked, notes } = setUp({
    permissions: "host",
    answers: [],
    rules: [{ tool_pattern: "*", mode: "prompt" }],
  });
  expect(await call("write", { uri: "src/a" })).toMatchObject({ ok: true });
  expect(asked).toEqual([]);
  expect(notes).toMatchObject([[{ outcome: "prompt", reason: expect.stringContaining("left to the host") }]]);
});

test("when nobody can be asked the answer names the rule that would allow the call", async () => {
  const { call, notes } = setUp();
  expect(await call("write", { uri: "src/a" })).toMatchObject({
    error: {
      code: "APPROVAL_REQUIRED",
      message: expect.stringContaining(
        '{"tool_pattern":"things.write","mode":"allow","args":{"path":["src/*"]}}',
      ),
    },
  });
  expect(notes).toMatchObject([[{ outcome: "prompt", tier: "default" }]]);
});

test("the rule that is proposed does allow the call", async () => {
  const rule = createPolicy([], places).narrowRule({
    name: "things.write",
    input: { uri: "src/a" },
    action: things.actions.write,
  });
  const { call } = setUp({ rules: [rule!] });
  expect(await call("write", { uri: "src/a" })).toMatchObject({ ok: true });
  expect(await call("write", { uri: "a" })).toMatchObject({ error: { code: "APPROVAL_REQUIRED" } });
});

test("reading the project does not ask, unless a rule does", async () => {
  expect(await setUp().call("look", { uri: "src/a" })).toMatchObject({ ok: true });
  expect(await setUp().call("help", {})).toMatchObject({ ok: true });
  const { call } = setUp({ rules: [{ tool_pattern: "things.look", mode: "prompt" }] });
  expect(await call("look", { uri: "src/a" })).toMatchObject({ error: { code: "APPROVAL_REQUIRED" } });
});

test("a read beyond this machine needs approval", async () => {
  expect(await setUp().call("fetch", { url: "https://a.example/" })).toMatchObject({
    error: { code: "APPROVAL_REQUIRED" },
  });
});

test("once is once", async () => {
  const { call, asked } = setUp({ answers: [{ answer: "once" }] });
  expect(await call("write", { uri: "src/a" })).toMatchObject({ ok: true });
  expect(await call("write", { uri: "src/a" })).toMatchObject({ error: { code: "APPROVAL_REQUIRED" } });
  expect(asked).toMatchObject([{ action: "things.write", input: { uri: "src/a" }, caller: "me" }, {}]);
});

test("an answer for the session holds for similar calls in that session only", async () => {
  const { call, asked } = setUp({ answers: [{ answer: "session" }] });
  await call("write", { uri: "src/a" });
  expect(await call("write", { uri: "src/b" })).toMatchObject({ ok: true });
  expect(asked).toHaveLength(1);
  expect(await call("write", { uri: "b" })).toMatchObject({ ok: false });
  expect(await call("write", { uri: "src/b" }, "another")).toMatchObject({ ok: false });
});

test("a session answer about a command that no rule can describe applies to exactly that text", async () => {
  const { call } = setUp({ answers: [{ answer: "session" }] });
  await call("exec", { command: "a | b" });
  expect(await call("exec", { command: "a | b" })).toMatchObject({ ok: true });
  expect(await call("exec", { command: "a | b; c" })).toMatchObject({ ok: false });
});

test("always writes the narrow rule, which holds at once", async () => {
  const added: PermissionRule[] = [];
  const { call, asked } = setUp({
    answers: [{ answer: "always" }],
    addRule: (rule) => void added.push(rule),
  });
  await call("exec", { command: ["npm", "test"] });
  const command = [{ words: ["npm", "test"], options: [], operands: "none" }];
  expect(added).toMatchObject([{ tool_pattern: "things.exec", mode: "allow", args: { command } }]);
  expect(asked[0]?.always?.rule).toEqual(added[0]);
  const days = (Date.parse(added[0]?.expires_at ?? "") - Date.now()) / 86_400_000;
  expect(Math.ceil(days)).toBe(30);
  expect(await call("exec", { command: "npm test && npm test" })).toMatchObject({ ok: true });
  expect(await call("exec", { command: ["npm", "test", "-w"] })).toMatchObject({ ok: false });
});

test("always is not offered under a prompt rule, nor without a way to write, nor when no rule can describe the call", async () => {
  const addRule = () => {
    throw new Error("nothing may be written");
  };
  const underRule = setUp({
    rules: [{ tool_pattern: "*", mode: "prompt" }],
    answers: [{ answer: "always" }],
    addRule,
  });
  // An answer that was not offered is a no.
  expect(await underRule.call("write", { uri: "src/a" })).toMatchObject({
    error: { code: "PERMISSION_DENIED" },
  });
  const noWay = setUp({ answers: [{ answer: "always" }] });
  await noWay.call("write", { uri: "src/a" });
  const unclear = setUp({ answers: [{ answer: "always" }], addRule });
  await unclear.call("exec", { command: "a $(b)" });
  const ofBridge = setUp({ answers: [{ answer: "always" }], addRule });
  expect(await ofBridge.call("write", { uri: "src/a" }, toOwnerId("0".repeat(64)))).toMatchObject({
    ok: false,
  });
  for (const { asked } of [underRule, noWay, unclear, ofBridge]) expect(asked[0]?.always).toBeUndefined();
});

test("a question on the screen can be answered elsewhere, which closes it there", async () => {
  const questions = createQuestions();
  const closed = Promise.withResolvers<unknown>();
  const ask: Ask = (_question, signal) =>
    new Promise(() => {
      signal.addEventListener("abort", () => closed.resolve(signal.reason));
    });
  questions.events.listen(({ value }) => {
    if (value.type !== "asked") return;
    expect(value.question).toMatchObject({ kind: "permission", action: "things.write", caller: "me" });
    questions.answer(value.question.question_id, { answer: "deny", reason: "not now", by: "octant answer" });
  });
  const { call, notes } = setUp({ ask, questions });
  expect(await call("write", { uri: "src/a" })).toMatchObject({
    error: { code: "PERMISSION_DENIED", details: { reason: "the person said no: not now" } },
  });
  expect(await closed.promise).toMatchObject({ outcome: { answer: "deny", by: "octant answer" } });
  expect(notes[0]?.[0]?.reason).toBe("the person said no: not now (octant answer)");
});

test("a denial includes the person's reason", async () => {
  const { call, notes } = setUp({ answers: [{ answer: "deny", reason: "use the other folder" }] });
  expect(await call("write", { uri: "src/a" })).toMatchObject({
    error: { code: "PERMISSION_DENIED", message: "things.write: the person said no: use the other folder" },
  });
  expect(notes).toMatchObject([[{ outcome: "deny", tier: "session" }]]);
});

test("a call that is cancelled while the person thinks is not run", async () => {
  const controller = new AbortController();
  const ask: Ask = async () => {
    controller.abort();
    return { answer: "once" };
  };
  const { call } = setUp({ ask });
  expect(await call("write", { uri: "src/a" }, "me", controller.signal)).toMatchObject({
    error: { code: "CANCELLED" },
  });
});

test("the person sees what would change", async () => {
  const { call, asked } = setUp({ answers: [{ answer: "once" }, { answer: "once" }] });
  await call("shown", { uri: "src/a" });
  expect(asked[0]?.preview).toBe("-a\n+b");
  expect(await call("broken", { uri: "src/a" })).toMatchObject({ ok: true });
  expect(asked[1]?.preview).toBeUndefined();
});

test("no answer of any session undoes a deny, in whatever tier and order", async () => {
  const rule = fc.record({
    tool_pattern: fc.constantFrom("*", "things", "things.write", "things.*"),
    mode: fc.constantFrom(...PERMISSION_MODES),
  });
  const answer = fc.constantFrom<QuestionAnswer>(
    { answer: "session" },
    { answer: "always" },
    { answer: "once" },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(rule, { maxLength: 3 }), { minLength: 4, maxLength: 4 }),
      answer,
      async (rules, said) => {
        const tiers = TIERS.map((tier, index) => ({ tier, rules: rules[index] ?? [] }));
        const session = new SessionAnswers(places);
        const input = { uri: "src/a" };
        session.remember("me", { name: "things.write", input, action: things.actions.write }, allow("*"));
        const { call } = setUp({
          policy: createPolicy(tiers, places),
          session,
          answers: [said, said],
          addRule: () => {},
        });
        const denies = tiers.some((tier) => tier.rules[0]?.mode === "deny");
        for (let n = 0; n < 2; n++) expect((await call("write", input)).ok).toBe(!denies);
      },
    ),
    { numRuns: 50 },
  );
});
