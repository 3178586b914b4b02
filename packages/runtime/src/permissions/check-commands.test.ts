import {
  createCursors,
  createDispatcher,
  createRegistry,
  defineTool,
  type PermissionQuestion,
  type QuestionOutcome,
} from "@octant/core";
import { expect, test } from "vitest";
import { checkCommands, type Unconfined } from "./check-commands.ts";
import { createPolicy } from "./policy.ts";
import type { PermissionRule } from "./rule.ts";
import { SessionAnswers } from "./session-answers.ts";
import { toAction } from "./testing/vectors.ts";

const places = { roots: ["/project"] };
const ALLOWED: PermissionRule = { tool_pattern: "*", mode: "allow" };

const things = defineTool({
  name: "things",
  summary: "Things.",
  actions: {
    exec: { ...toAction({ command: "command" }), runsCommands: true as const },
    write: toAction({ uri: "path" }),
  },
});

interface Setup {
  readonly unconfined: Unconfined | undefined;
  readonly answer?: QuestionOutcome["answer"];
  readonly permissions?: "host" | "enforce";
  readonly rules?: readonly PermissionRule[];
}

/** Every rule and every earlier answer allows everything. */
function setUp({ unconfined, answer = "once", permissions = "enforce", rules = [ALLOWED] }: Setup) {
  const asked: PermissionQuestion[] = [];
  const step = checkCommands({
    places,
    unconfined: async () => unconfined,
    policy: createPolicy([{ tier: "user", rules }], places),
    session: new SessionAnswers(places, [ALLOWED]),
    permissions,
    addRule: () => expect.unreachable("a rule was written"),
  });
  const dispatch = createDispatcher({
    registry: createRegistry([things]),
    cursors: createCursors(Buffer.alloc(32)),
    onBug: (cause) => expect.unreachable(String(cause)),
    policy: [step],
  });
  const call = async (action: "exec" | "write", input: Record<string, string>) => {
    const caller = { id: "session", access: "admin" as const };
    const { envelope } = await dispatch(
      { tool: "things", action, input },
      {
        caller,
        async ask(question) {
          if (question.kind === "permission") asked.push(question);
          return answer === "unattended" ? undefined : { answer };
        },
      },
    );
    return envelope.ok ? "ran" : envelope.error.code;
  };
  return { call, asked };
}

const UNCONFINED = { reason: "no sandbox works", accepted: false };

test("each command that nothing confines is asked about, whatever is allowed; other calls are not", async () => {
  const { call, asked } = setUp({ unconfined: UNCONFINED });
  for (const command of ["ls", "ls", "pwd"]) expect(await call("exec", { command })).toBe("ran");
  expect(await call("write", { uri: "a" })).toBe("ran");
  expect(asked.map(({ reason, always }) => [reason, always])).toEqual(
    Array(3).fill(["no sandbox works", undefined]),
  );
});

test("a person's answer for the session holds for the command that it was about", async () => {
  const { call, asked } = setUp({ unconfined: UNCONFINED, answer: "session" });
  for (const command of ["ls", "ls", "pwd"]) expect(await call("exec", { command })).toBe("ran");
  expect(asked).toHaveLength(2);
});

test.each(["deny", "unattended"] as const)(
  "the command does not run when the answer is %s",
  async (answer) => {
    const { call } = setUp({ unconfined: UNCONFINED, answer });
    expect(await call("exec", { command: "ls" })).toMatch(/PERMISSION_DENIED|APPROVAL_REQUIRED/);
  },
);

test("a rule that denies is not asked about", async () => {
  const { call, asked } = setUp({ unconfined: UNCONFINED, rules: [{ tool_pattern: "*", mode: "deny" }] });
  expect(await call("exec", { command: "ls" })).toBe("PERMISSION_DENIED");
  expect(asked).toEqual([]);
});

test.each<[string, Partial<Setup>]>([
  ["a sandbox confines it", { unconfined: undefined }],
  ["the person accepted that nothing does", { unconfined: { ...UNCONFINED, accepted: true } }],
  ["the host asks", { permissions: "host" }],
])("no question where %s", async (_, given) => {
  const { call, asked } = setUp({ unconfined: UNCONFINED, ...given });
  expect(await call("exec", { command: "ls" })).toBe("ran");
  expect(asked).toEqual([]);
});
