import { expect, test } from "vitest";
import type { ConsoleEvent, OctantProcess, Question } from "../../src/api.ts";
import {
  applyEvent,
  choiceOf,
  chooseProcess,
  groupRoster,
  hasTool,
  isCallable,
  originOf,
  questionsOf,
} from "./roster.ts";

const process = (id: string, more: Partial<OctantProcess> = {}): OctantProcess => ({
  id,
  pid: 1,
  version: "1.0.0",
  command: "serve",
  started_at: "2026-11-18T01:00:00Z",
  roots: ["/home/ada/calculator"],
  clients: [],
  state: "idle",
  running_calls: 0,
  sessions: [],
  questions: [],
  ...more,
});
const question = (question_id: string, more: Partial<Question> = {}): Question => ({
  question_id,
  kind: "permission",
  action: "fs.write",
  caller: "session_1",
  choices: ["once", "deny"],
  asked_at: "2026-11-18T01:00:00Z",
  expires_at: null,
  text: "",
  ...more,
});
const stamp = { seq: 1, at: 0, process: "a" };

test("processes join, change and leave", () => {
  const joined = applyEvent([], {
    ...stamp,
    topic: "roster",
    event: { type: "joined", process: process("a") },
  });
  const changed = applyEvent(joined, {
    ...stamp,
    topic: "roster",
    event: { type: "changed", process: process("a", { state: "working" }) },
  });
  expect(changed.map(({ state }) => state)).toEqual(["working"]);
  expect(applyEvent(changed, { ...stamp, topic: "roster", event: { type: "left" } })).toEqual([]);
});

test("questions appear once, the longest waiting first, and go when they are answered", () => {
  let list: readonly OctantProcess[] = [
    process("a"),
    process("b", { questions: [question("q0", { asked_at: "2026-11-18T00:59:00Z" })] }),
  ];
  const asked: ConsoleEvent = {
    ...stamp,
    topic: "questions",
    event: { type: "asked", question: question("q1") },
  };
  list = applyEvent(applyEvent(list, asked), asked);
  expect(questionsOf(list).map((one) => [one.process, one.question_id])).toEqual([
    ["b", "q0"],
    ["a", "q1"],
  ]);
  list = applyEvent(list, {
    ...stamp,
    topic: "questions",
    event: { type: "answered", question_id: "q1", answer: "once" },
  });
  expect(questionsOf(list).map(({ question_id }) => question_id)).toEqual(["q0"]);
});

test("the roster puts those that wait for a person first, by session", () => {
  const session = {
    session_id: "session_1",
    title: "Fix it",
    model: "m",
    state: "working",
    turns: 1,
    cost: null,
  } as const;
  const groups = groupRoster([
    process("a", {
      sessions: [session, { ...session, session_id: "session_2" }],
      questions: [question("q")],
    }),
    process("b"),
    process("c", { state: "silent" }),
  ]);
  expect(groups["needs input"].map(({ session: one }) => one?.session_id)).toEqual(["session_1"]);
  expect(groups.working.map(({ session: one }) => one?.session_id)).toEqual(["session_2"]);
  expect(groups.done.map(({ process: one }) => one.id)).toEqual(["b", "c"]);
});

test("a view shows the named process, else one that works in a folder", () => {
  const all = [process("console", { command: "console" }), process("a"), process("b")];
  expect(chooseProcess(all, "b", "console")?.id).toBe("b");
  expect(chooseProcess(all, undefined, "console")?.id).toBe("a");
  expect(chooseProcess(all, "gone", "b")?.id).toBe("b");
  expect(chooseProcess([all[0]!], undefined, "console")?.id).toBe("console");
});

test("a process of an earlier version has every tool, an edge none", () => {
  expect(hasTool(process("a"), "proc")).toBe(true);
  expect(hasTool(process("a", { tools: ["fs"] }), "proc")).toBe(false);
  expect([undefined, ["fs"], []].map((tools) => isCallable(tools ? { tools } : {}))).toEqual([
    true,
    true,
    false,
  ]);
});

test("the client and a number distinguish processes of one folder", () => {
  expect(choiceOf(process("a", { clients: ["claude-code 2.1.4"], pid: 7 }))).toBe(
    "calculator · claude-code 2.1.4 · 7",
  );
  expect(choiceOf(process("a", { command: "hub", pid: 8 }))).toBe("Hub · octant hub · 8");
});

test("a call comes from the only client of its process, never from a guessed one", () => {
  const from = (clients: readonly string[], tool = "fs") =>
    originOf({ process: "p", caller: "local", tool }, [process("p", { clients: [...clients] })]);
  expect(from(["codex 1"])).toContain("codex 1");
  expect(from(["codex 1"], "console")).toContain("octant serve");
  expect(from(["codex 1", "zed 2"])).toContain("octant serve");
  expect(originOf({ process: "4711-ab", caller: "local", tool: "fs" }, [])).toBe("ended process 4711");
  for (const command of ["hub", "serve --http"]) {
    const shared = process("p", { clients: ["octant 1"], command });
    expect(originOf({ process: "p", caller: "local", tool: "session" }, [shared])).toContain(
      `octant ${command}`,
    );
  }
});
