import { expect, test } from "vitest";
import { z } from "zod";
import { admin, box, createBox } from "../testing/test-tool.ts";
import type { Step } from "./dispatch.ts";
import { ToolError } from "./errors.ts";
import { action, defineTool } from "./tool.ts";

test("an answer is an envelope with the data, the backend that did it and a trace id", async () => {
  const envelope = await createBox().call("get", { id: 7 });
  expect(envelope).toEqual({
    ok: true,
    data: { id: 7, how: "near" },
    error: null,
    meta: {
      tool: "box",
      action: "get",
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      backend: "wood",
      paging: { cursor: null, more: false },
    },
  });
});

test("the trace id is taken from a traceparent and generated when that is invalid", async () => {
  const { dispatch } = createBox();
  const traceOf = async (traceparent: unknown) =>
    (await dispatch({ tool: "box", action: "get", input: { id: 1 } }, { caller: admin, traceparent }))
      .envelope.meta.trace_id;
  const id = "4bf92f3577b34da6a3ce929d0e0e4736";
  expect(await traceOf(`00-${id}-00f067aa0ba902b7-01`)).toBe(id);
  for (const broken of [undefined, "", `00-${id}-0-01`, `00-${"0".repeat(32)}-00f067aa0ba902b7-01`, 7]) {
    expect(await traceOf(broken)).toMatch(/^[0-9a-f]{32}$/);
    expect(await traceOf(broken)).not.toBe("0".repeat(32));
  }
});

test("an unknown tool names the tools there are", async () => {
  const { envelope } = await createBox().dispatch(
    { tool: "bin", action: "get", input: {} },
    { caller: admin },
  );
  expect(envelope.error).toEqual({
    code: "UNKNOWN_TOOL",
    message: "unknown tool 'bin'; tools: box",
    details: { available: ["box"] },
  });
});

const ACTIONS = ["get", "list", "put", "burn", "help", "schema", "status"];

test.each(["foo", "constructor", "__proto__", "toString"])(
  "the unknown action %s names the valid ones",
  async (name) => {
    expect((await createBox().call(name)).error).toEqual({
      code: "UNKNOWN_ACTION",
      message: `unknown action '${name}' for box tool; valid actions: ${ACTIONS.join(", ")}`,
      details: { available: ACTIONS },
    });
  },
);

test.each([undefined, null, "", 7, {}])(
  "without an action (%j) the answer says that it is required",
  async (action) => {
    const { error } = await createBox().call(action);
    expect(error?.code).toBe("UNKNOWN_ACTION");
    expect(error?.message).toMatch(/^action parameter is required/);
  },
);

test("bad arguments are all named, with unknown parameters and their paths", async () => {
  const { error } = await createBox().call("get", { id: "x", how: "up", idd: 1 });
  expect(error?.code).toBe("INVALID_ARGUMENT");
  const about = (path: string) => expect.objectContaining({ path });
  expect(error?.details).toEqual({ issues: expect.arrayContaining([about(""), about("how"), about("id")]) });
  expect(error?.message).toContain('"idd"');
});

test.each([[[]], ["text"], [7], [true]])(
  "input that is not an object (%j) is a bad argument",
  async (input) => {
    expect((await createBox().call("get", input)).error?.code).toBe("INVALID_ARGUMENT");
  },
);

test("a ToolError reaches the caller as it was thrown", async () => {
  expect((await createBox().call("get", { id: -1 })).error).toEqual({
    code: "NOT_FOUND",
    message: "there is no thing -1",
    details: { id: "-1" },
  });
});

test.each(["throw", "wrong_output"])(
  "a bug (%s) is INTERNAL to the caller and whole in the log",
  async (how) => {
    const { call, bugs } = createBox();
    const envelope = await call("burn", { how });
    expect(envelope.error).toEqual({
      code: "INTERNAL",
      message: expect.not.stringContaining("secret"),
      details: { trace_id: envelope.meta.trace_id },
    });
    expect(bugs).toEqual([
      expect.objectContaining({ traceId: envelope.meta.trace_id, cause: expect.any(Error) }),
    ]);
  },
);

test("a cancelled call answers CANCELLED, whether it was cancelled before or while it ran", async () => {
  const { dispatch, bugs } = createBox();
  const burn = { tool: "box", action: "burn", input: { how: "wait" } };
  const before = await dispatch(burn, { caller: admin, signal: AbortSignal.abort() });
  expect(before.envelope.error?.code).toBe("CANCELLED");
  const cancel = new AbortController();
  // Progress shows that the action is running, so that it is cancelled midway.
  const during = dispatch(burn, { caller: admin, signal: cancel.signal, onProgress: () => cancel.abort() });
  expect((await during).envelope.error?.code).toBe("CANCELLED");
  expect(bugs).toEqual([]);
});

test("a caller cannot do more than its access allows", async () => {
  const { call } = createBox();
  const reader = { id: "r", access: "read" } as const;
  const writer = { id: "w", access: "write" } as const;
  expect((await call("get", { id: 1 }, reader)).ok).toBe(true);
  expect((await call("put", {}, writer)).ok).toBe(true);
  expect((await call("put", {}, reader)).error).toMatchObject({
    code: "PERMISSION_DENIED",
    details: { by: "access" },
  });
  expect((await call("burn", { how: "throw" }, writer)).error?.code).toBe("PERMISSION_DENIED");
});

test("a caller restricted to one project cannot use server-wide actions", async () => {
  const { call } = createBox();
  const ofProject = { id: "p", access: "admin", project: "mine" } as const;
  expect((await call("put", {}, ofProject)).ok).toBe(true);
  expect((await call("burn", { how: "throw" }, ofProject)).error).toMatchObject({
    code: "PERMISSION_DENIED",
    details: { by: "access", rule: "global" },
  });
});

test("another project does not exist for a caller restricted to one", async () => {
  const { registry, dispatch } = createBox();
  registry.addTool({
    ...box,
    name: "shed",
    actions: {
      put: action({
        summary: "Put a thing into the shed of a project.",
        access: "write",
        timing: "sync",
        intent: "apply",
        input: z.strictObject({ project: z.string() }),
        output: z.object({}),
        examples: [{ title: "My processes", input: { project: "mine" } }],
        projectOf: ({ project }) => project,
        run: () => ({}),
      }),
    },
  });
  const caller = { id: "p", access: "admin", project: "mine" } as const;
  const call = async (project: string) =>
    (await dispatch({ tool: "shed", action: "put", input: { project } }, { caller })).envelope;
  expect((await call("mine")).ok).toBe(true);
  expect((await call("yours")).error).toMatchObject({ code: "NOT_FOUND" });
});

test("the audit step sees what the steps after it decided, also when one refuses", async () => {
  const seen: unknown[] = [];
  const audit: Step = async (call, ctx, next) => {
    try {
      return await next();
    } finally {
      seen.push([call.name, ...ctx.decisions]);
    }
  };
  const allow: Step = (_call, ctx, next) => {
    ctx.decided({ step: "permission", outcome: "allow", rule: "box.*", tier: "user" });
    return next();
  };
  const { call } = createBox({ audit, policy: [allow], mode: "inspect" });
  await call("get", { id: 1 });
  await call("put");
  await call("put", {}, { id: "r", access: "read" });
  expect(seen).toEqual([
    ["get", { step: "permission", outcome: "allow", rule: "box.*", tier: "user" }],
    ["put", { step: "mode", outcome: "deny", rule: "inspect" }],
    ["put", { step: "access", outcome: "deny", rule: "write" }],
  ]);
});

test.each([
  ["inspect", ["get"]],
  ["apply", ["get", "put"]],
  ["verify", ["get"]],
  ["ship", ["get", "burn"]],
] as const)("mode %s allows %j and nothing else", async (mode, allowed) => {
  const { call } = createBox({ mode });
  for (const [name, input] of [
    ["get", { id: 1 }],
    ["put", {}],
    ["burn", { how: "throw" }],
  ] as const) {
    const denied = (await call(name, input)).error?.code === "PERMISSION_DENIED";
    expect([name, denied]).toEqual([name, !(allowed as readonly string[]).includes(name)]);
  }
});

test("policy steps run in order between the mode and the action, see checked input, and can refuse", async () => {
  const seen: string[] = [];
  const note =
    (name: string): Step =>
    async (call, _ctx, next) => {
      seen.push(`${name} ${JSON.stringify(call.input)}`);
      const data = await next();
      seen.push(`${name} back ${JSON.stringify(data)}`);
      return data;
    };
  const deny: Step = (call) => {
    throw new ToolError("PERMISSION_DENIED", "no", { by: "rule", rule: call.name });
  };
  await createBox({ policy: [note("a"), note("b")] }).call("get", { id: 1 });
  const input = '{"id":1,"how":"near"}';
  expect(seen).toEqual([`a ${input}`, `b ${input}`, `b back ${input}`, `a back ${input}`]);
  expect((await createBox({ policy: [deny] }).call("get", { id: 1 })).error?.details).toEqual({
    by: "rule",
    rule: "get",
  });
});

test("progress reaches the caller that requested it", async () => {
  const updates: unknown[] = [];
  await createBox().dispatch(
    { tool: "box", action: "burn", input: { how: "throw" } },
    { caller: admin, onProgress: (update) => updates.push(update) },
  );
  expect(updates).toEqual([{ progress: 1, total: 2, message: "burning" }]);
});

test("without jobs, an action that detaches returns its interim answer", async () => {
  const { registry, dispatch } = createBox();
  const never = new Promise<never>(() => {});
  registry.addTool(
    defineTool({
      name: "slow",
      summary: "Slow things.",
      actions: {
        go: action({
          summary: "Answer early.",
          access: "read",
          timing: "async_medium",
          intent: "inspect",
          input: z.strictObject({}),
          output: z.object({ state: z.string() }),
          examples: [{ title: "Go", input: {} }],
          run(_input, ctx) {
            ctx.detach({ state: "on its way" });
            return never;
          },
        }),
      },
    }),
  );
  const { envelope } = await dispatch({ tool: "slow", action: "go", input: {} }, { caller: admin });
  expect(envelope.data).toEqual({ state: "on its way" });
  expect(envelope.meta.job_id).toBeUndefined();
});

test("a sync call streams to its caller while it runs", async () => {
  const { registry, dispatch } = createBox();
  registry.addTool(
    defineTool({
      name: "talker",
      summary: "Talks.",
      actions: {
        talk: action({
          summary: "Say two things.",
          access: "read",
          timing: "sync",
          intent: "inspect",
          input: z.strictObject({}),
          output: z.object({}),
          examples: [{ title: "Talk", input: {} }],
          run(_input, { emit }) {
            emit({ kind: "text", text: "one" });
            emit({ kind: "progress", progress: 1 });
            return {};
          },
        }),
      },
    }),
  );
  const chunks: unknown[] = [];
  const updates: unknown[] = [];
  const call = { tool: "talker", action: "talk", input: {} };
  await dispatch(call, {
    caller: admin,
    onStream: (chunk) => chunks.push(chunk),
    onProgress: (update) => updates.push(update),
  });
  expect(chunks).toMatchObject([{ kind: "text", text: "one" }, { kind: "progress" }]);
  expect(updates).toMatchObject([{ progress: 1 }]);
});
