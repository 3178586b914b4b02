import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agent } from "../agent.ts";
import { textOf, textParts } from "../messages.ts";
import { Session } from "../session.ts";
import { call, createScriptedClient, done, TEST_MODEL, type Turn, text } from "../testing/scripted-client.ts";
import { createTestTools } from "../testing/tools.ts";
import { exportHtml, exportJson, exportMarkdown } from "./export.ts";
import { FileSessionStore } from "./file-session-store.ts";
import { createLog, openLogFile, readLogFile } from "./log-file.ts";

function createFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "octant-sessions-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

test("an event is in the log before a listener sees it", async () => {
  using folder = createFolder();
  const store = new FileSessionStore({ folder: folder.path });
  const session = await store.create();
  const client = createScriptedClient([[call("read")], [text("ok")]]);
  const agent = new Agent({ client, session, tools: createTestTools({ read: () => "A" }) });
  let checked = 0;
  agent.subscribe((event) => {
    expect([...readLogFile(join(folder.path, `${session.id}.jsonl`))].at(-1)).toEqual(event);
    checked += 1;
  });
  await agent.send("Go.");
  expect(checked).toBe(8);
  await agent.close();
});

test("a resumed session has the same conversation, and its requests start with the same bytes", async () => {
  using folder = createFolder();
  const store = new FileSessionStore({ folder: folder.path });
  const tools = createTestTools({ read: () => "A" });
  const first = createScriptedClient([[call("read")], [text("one")]]);
  const before = new Agent({
    client: first,
    session: await store.create(),
    tools,
    system: "At the start.",
  });
  await before.send("Go.");
  await before.close();
  const second = createScriptedClient([[text("two")]]);
  const session = await store.open(before.session.id);
  const after = new Agent({ client: second, session, tools, system: "Another system prompt." });
  await after.send("Go on.");
  const [request] = second.requests;
  const last = first.requests.at(-1);
  expect(request).toMatchObject({ system: "At the start.", tools: last?.tools });
  expect(request?.messages.slice(0, 3)).toEqual(last?.messages);
  await after.close();
  expect(await store.list()).toMatchObject([{ title: "Go.", turns: 3, ended: "done", tokens: 330 }]);
});

test("a partial last line after a crash is dropped, and the log continues after the last complete one", async () => {
  using folder = createFolder();
  const file = join(folder.path, "log.jsonl");
  const store = await openLogFile(file);
  const session = new Session({ id: "ses_1", store });
  await session.append({ type: "notice", level: "info", text: "ä".repeat(3) });
  await session.append({ type: "notice", level: "info", text: "two" });
  await session.close();
  const { size } = statSync(file);
  const { truncateSync } = await import("node:fs");
  for (const cut of [1, 2, 40]) {
    truncateSync(file, size - cut);
    expect([...readLogFile(file)].map(({ seq }) => seq)).toEqual([1]);
  }
  const events = [...readLogFile(file)];
  const again = new Session({ id: "ses_1", store: await openLogFile(file), events });
  await again.append({ type: "notice", level: "info", text: "three" });
  await again.close();
  expect([...readLogFile(file)]).toMatchObject([{ seq: 1 }, { seq: 2, text: "three" }]);
});

test("an event after a failed write does not join the part that was written", async () => {
  let stored = Buffer.alloc(0);
  let isFull = false;
  const log = await createLog({
    async appendFile(data) {
      const bytes = Buffer.from(data as Buffer); // The log writes buffers.
      stored = Buffer.concat([stored, isFull ? bytes.subarray(0, 9) : bytes]);
      if (isFull) throw Object.assign(new Error("full"), { code: "ENOSPC" });
    },
    async truncate(length) {
      stored = stored.subarray(0, length);
    },
    stat: async () => ({ size: stored.length }),
    datasync: async () => {},
    close: async () => {},
  });
  const session = new Session({ id: "ses_1", store: log });
  const notice = (text: string) => session.append({ type: "notice", level: "info", text });
  await notice("ä");
  isFull = true;
  await expect(notice("lost")).rejects.toMatchObject({ code: "NO_SPACE" });
  isFull = false;
  await notice("two");
  const lines = stored.toString().trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { seq: 1, text: "ä" },
    { seq: 2, text: "two" },
  ]);
});

test("a log that was damaged from outside is not continued, but a fork of its intact start is", async () => {
  using folder = createFolder();
  const store = new FileSessionStore({ folder: folder.path });
  const session = await store.create();
  for (const text of ["one", "two", "three"]) await session.append({ type: "notice", level: "info", text });
  await session.close();
  const file = join(folder.path, `${session.id}.jsonl`);
  const lines = readFileSync(file, "utf8").split("\n");
  for (const damage of ["\0garbage", undefined]) {
    writeFileSync(file, [lines[0], ...(damage === undefined ? [] : [damage]), ...lines.slice(2)].join("\n"));
    await expect(store.open(session.id)).rejects.toMatchObject({
      code: "IO_ERROR",
      message: expect.stringContaining(
        `damaged at line 2, or was written by another version; octant run --fork ${session.id} continues`,
      ),
    });
    const copy = await store.fork(session.id);
    await copy.close();
    expect(await Array.fromAsync(store.events(copy.id))).toMatchObject([{ seq: 1, text: "one" }]);
  }
});

test("in a session of many turns memory stays flat and each request is ready at once", async () => {
  using folder = createFolder();
  const store = new FileSessionStore({ folder: folder.path });
  const turn: Turn = (request) => {
    const last = request.messages.at(-1);
    const isSummary = last?.role === "user" && textOf(last.content).includes("write a summary");
    return isSummary ? [text("Much was read.")] : [call("read", { n: Math.random() })];
  };
  const sizes: number[] = [];
  const client = {
    model: { ...TEST_MODEL, context_tokens: 50_000 },
    async *send(request: Parameters<Extract<Turn, (...args: never) => unknown>>[0]) {
      sizes.push(request.messages.length);
      yield done(turn(request, AbortSignal.any([])) as Parameters<typeof done>[0]);
    },
  };
  let count = 0;
  const tools = createTestTools({
    read: () => ({
      content: textParts(`${++count} ${"x".repeat(4_000)}`),
      is_error: false,
      facts: { read: [{ path: `file:///p/${count % 50}.ts`, hash: `sha256:${count}` }] },
    }),
  });
  const agent = new Agent({ client, session: await store.create(), tools });
  const end = await agent.send("Read everything.", { limits: { max_turns: 300 } });
  expect(end).toMatchObject({ reason: "max_turns", turns: 300 });
  // Bounded by compaction, not by the length of the session.
  expect(Math.max(...sizes)).toBeLessThan(150);
  await agent.close();
  expect(
    (await Array.fromAsync(store.events(agent.session.id))).filter(({ type }) => type === "compaction")
      .length,
  ).toBeGreaterThan(3);
});

/** A log in a store, with events as another version may have written them. */
function writeLog(folder: string, letter: string, events: readonly object[]): string {
  const id = `ses_${letter.repeat(36)}`;
  const lines = events.map(
    (event, at) => `${JSON.stringify({ seq: at + 1, session_id: id, at: "2026", ...event })}\n`,
  );
  writeFileSync(join(folder, `${id}.jsonl`), lines.join(""));
  return id;
}

const BEGAN = { type: "session_began", system: "", tools: [], model: TEST_MODEL, cwd: "/p" };
const SAID = { type: "user", origin: "person", content: textParts("hello") };
const ANSWERED = { type: "message", message: { role: "assistant", content: textParts("hi") }, stop: "end" };

test("a message that a log has before the result of a call comes after it, in the session and in its forks", async () => {
  using folder = createFolder();
  const store = new FileSessionStore({ folder: folder.path });
  const session = await store.create();
  const client = createScriptedClient([[call("read")], [text("ok")]]);
  const agent = new Agent({ client, session, tools: createTestTools({ read: () => "A" }) });
  await agent.send("Go.");
  await agent.close();
  const file = join(folder.path, `${session.id}.jsonl`);
  const events = [...readLogFile(file)];
  const began = events.findIndex(({ type }) => type === "tool_began");
  const said = events.find(({ type }) => type === "user");
  const early = { ...said, content: textParts("go on") };
  const log = [...events.slice(0, began + 1), early].map((event, at) => ({ ...event, seq: at + 1 }));
  writeFileSync(file, log.map((event) => `${JSON.stringify(event)}\n`).join(""));
  const opened = await store.open(session.id);
  const forked = await store.fork(session.id);
  for (const { conversation } of [opened, forked]) {
    expect(conversation.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
    expect(JSON.stringify(conversation.messages.at(-1))).toContain("go on");
  }
  await opened.close();
  await forked.close();
});

test("a log of an older version without counts is listed and continued", async () => {
  using folder = createFolder();
  const store = new FileSessionStore({ folder: folder.path });
  const id = writeLog(folder.path, "a", [BEGAN, SAID, ANSWERED]);
  expect(await store.list()).toMatchObject([
    { session_id: id, problem: null, turns: 1, tokens: 0, cost: null },
  ]);
  const session = await store.open(id);
  expect(session.conversation.messages).toHaveLength(2);
  await session.close();
});

test("a log of a newer version is listed with the reason, and is neither continued nor forked", async () => {
  using folder = createFolder();
  const store = new FileSessionStore({ folder: folder.path });
  const id = writeLog(folder.path, "a", [{ ...BEGAN, format: 99 }, SAID, { type: "from_the_future" }]);
  expect(await store.list()).toMatchObject([
    { events: 3, problem: expect.stringContaining("newer version of Octant") },
  ]);
  for (const way of [() => store.open(id), () => store.fork(id)])
    await expect(way()).rejects.toMatchObject({
      code: "UNSUPPORTED",
      message: expect.stringContaining("update Octant"),
    });
});

test.each([
  [{ type: "message", message: "other" }],
  [{ type: "tool_ended" }],
  [{ type: "compaction", messages: 3 }],
  [{ type: "user", content: "a string" }],
  [{ no: "type" }],
])(
  "one event of another shape (%j) is one marked row, and breaks no list, search or export",
  async (event) => {
    using folder = createFolder();
    const store = new FileSessionStore({ folder: folder.path });
    const good = writeLog(folder.path, "a", [BEGAN, SAID, ANSWERED]);
    const odd = writeLog(folder.path, "b", [BEGAN, SAID, event, ANSWERED]);
    // Twice: the second list comes from the summaries on disk.
    for (const _time of [1, 2])
      expect(
        Object.fromEntries((await store.list()).map(({ session_id, problem }) => [session_id, problem])),
      ).toEqual({
        [good]: null,
        [odd]: "line 3 is damaged, or of another version",
      });
    await expect(store.open(odd)).rejects.toMatchObject({ code: "IO_ERROR" });
    const found = await store.search({
      query: "hello",
      limit: 9,
      signal: new AbortController().signal,
    });
    expect(found.map(({ session_id }) => session_id).sort()).toEqual([good, odd]);
    const events = await Array.fromAsync(store.events(odd));
    for (const text of [exportJson(events), exportMarkdown(events), exportHtml(events, String)])
      expect(text).toContain("hello");
  },
);
