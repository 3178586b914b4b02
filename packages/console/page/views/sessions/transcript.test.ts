import { expect, test } from "vitest";
import type { SessionEvent, SessionRow } from "../../../src/api.ts";
import { toTree } from "./session-tree.ts";
import { toTranscript } from "./transcript.ts";

const event = (seq: number, type: string, more: object = {}): SessionEvent => ({
  seq,
  type,
  session_id: "s",
  at: new Date(seq * 1_000).toISOString(),
  ...more,
});

const EVENTS = [
  event(1, "user", { origin: "person", content: [{ type: "text", text: "fix it" }] }),
  event(2, "message", {
    message: {
      role: "assistant",
      content: [
        { type: "thinking", text: "hm" },
        { type: "text", text: "I **look**." },
        { type: "tool_call", id: "c" },
      ],
    },
    cost: 0.25,
    context: { used_tokens: 900, size_tokens: 200_000 },
  }),
  event(3, "tool_began", { call_id: "c", name: "fs", title: "fs.read a.ts", input: { uri: "a.ts" } }),
  event(4, "permission_asked", { permission_id: "q", action: "fs.read" }),
  event(5, "permission_answered", { permission_id: "q", answer: "once" }),
  event(6, "tool_ended", {
    call_id: "c",
    content: [{ type: "text", text: "content" }],
    is_error: true,
    code: "NOT_FOUND",
    duration_ms: 12,
    facts: { diff: "--- a" },
  }),
  event(7, "mark", {
    name: "plan",
    data: { title: "Plan", entries: [{ content: "one", status: "completed" }] },
  }),
  event(8, "spent", { by: "agent", cost: 0.5 }),
  event(9, "message", {
    message: { content: [{ type: "text", text: "Done." }] },
    cost: 0.25,
    context: { used_tokens: 1_200, size_tokens: 200_000 },
  }),
  event(10, "end", { reason: "max_turns", message: "Raise it.", cost: 1 }),
];

test("a transcript has messages, calls with their results, questions with their answers, and the plan", () => {
  const { entries, plan, context } = toTranscript(EVENTS);
  expect(entries.map(({ kind }) => kind)).toEqual([
    "user",
    "assistant",
    "call",
    "question",
    "assistant",
    "note",
  ]);
  expect(entries[2]).toMatchObject({
    title: "fs.read a.ts",
    result: "content",
    failed: true,
    code: "NOT_FOUND",
    diff: "--- a",
  });
  expect(entries[3]).toMatchObject({ answer: "once" });
  expect(entries[5]).toMatchObject({ text: "Ended (max turns): Raise it." });
  expect(plan?.steps).toEqual([{ content: "one", status: "completed" }]);
  expect(context).toEqual({ used: 1_200, size: 200_000 });
});

test("a call that was refused before it began is listed with what the model wrote", () => {
  const call = { type: "tool_call", id: "c", name: "nope", arguments: '{"a":1}' };
  const { entries } = toTranscript([
    event(1, "message", { message: { role: "assistant", content: [call] } }),
    event(2, "tool_ended", {
      call_id: "c",
      name: "nope",
      content: [{ type: "text", text: "there is no tool 'nope'" }],
      is_error: true,
      code: "UNKNOWN_TOOL",
      duration_ms: 0,
    }),
  ]);
  expect(entries).toMatchObject([
    {
      kind: "call",
      seq: 2,
      title: "nope",
      input: '{"a":1}',
      result: "there is no tool 'nope'",
      failed: true,
      code: "UNKNOWN_TOOL",
    },
  ]);
});

test("cost and context over time are summed once, sub-agents included", () => {
  expect(toTranscript(EVENTS).usage.map(({ cost, context }) => [cost, context])).toEqual([
    [0.25, 900],
    [1, 1_200],
  ]);
});

const row = (session_id: string, title: string, parent: SessionRow["parent"] = null) => ({
  session_id,
  title,
  provider: "",
  model: "m",
  cwd: "/p",
  created_at: "",
  updated_at: "",
  turns: 1,
  tokens: 0,
  cost: null,
  changed_files: [],
  ended: null,
  events: 1,
  parent,
  problem: null,
  open_here: false,
  process: "p",
});

test("sub-agents stand below their session, and a search keeps their parents", () => {
  const sessions = [
    row("c", "Review", { session_id: "a", kind: "agent" }),
    row("b", "Other"),
    row("a", "Main"),
    row("d", "A copy", { session_id: "a", kind: "fork" }),
  ];
  expect(toTree(sessions).map(({ session, depth }) => [session.session_id, depth])).toEqual([
    ["b", 0],
    ["a", 0],
    ["c", 1],
    ["d", 0],
  ]);
  expect(toTree(sessions, "review").map(({ session }) => session.session_id)).toEqual(["a", "c"]);
});

test("a search of the model's provider is a note with its question and sources", () => {
  const search = { type: "web_search", search_id: "w" };
  const { entries } = toTranscript([
    event(1, "message", {
      message: {
        content: [
          { ...search, queries: ["node 24"], sources: [] },
          { ...search, queries: [], sources: [{ title: "Node", url: "https://nodejs.org" }] },
          { type: "text", text: "It is out." },
        ],
      },
    }),
  ]);
  expect(entries).toMatchObject([
    { kind: "note", text: "Searched the web: node 24. Found: Node https://nodejs.org" },
    { kind: "assistant", text: "It is out." },
  ]);
});
