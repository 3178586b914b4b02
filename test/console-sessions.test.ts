import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createScriptedProvider } from "@octant/scripted-provider";
import { expect, test, vi } from "vitest";
import { openPage, startConsole } from "./console-client.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { openChat } from "./open-chat.ts";
import { accountAt } from "./scripted-account.ts";

const WAIT = { timeout: 40_000, interval: 100 };
const HOSTILE = `<img src=x onerror=alert(1)>"'</script>\u202e\u0000\u001b[31m`;
const write = (uri: string, content: string) => ({
  parts: [{ call: "fs", input: { action: "write", uri, content } }],
});
const say = (text: string) => ({ parts: [{ text }] });

test("a session is started, asked about, answered, continued, forked, rewound and exported through the API", async () => {
  await using provider = await createScriptedProvider([
    write("new.txt", "one\n"),
    say("It is written."),
    say(`Second ${HOSTILE.replaceAll("\u0000", "")}`),
    say("From the copy."),
  ]);
  using project = createFixtureProject();
  const at = { cwd: project.root, env: { ...project.env, ...accountAt(provider) } };
  await using console = await startConsole(at);
  const page = await openPage(console.link);
  using stream = await page.follow();
  const own = page.me.process;
  const started = await page.call(own, "console", "start", { message: "write it", model: "some-model" });
  expect(started.error).toBeNull();
  const { session_id } = Object(started.data);

  // It has a socket of its own, as the agent in a terminal has.
  await vi.waitFor(() => expect(stream.of("questions")).toHaveLength(1), WAIT);
  const [asked] = stream.of("questions");
  expect(asked?.process).not.toBe(own);
  const { question } = Object(asked?.event);
  expect(question.preview).toContain("+one");
  const question_id = question.question_id;
  expect(await page.post("answer", { process: asked?.process, question_id, answer: "once" })).toEqual({});
  const ends = () => stream.of("sessions").filter((one) => Object(one.event).type === "end");
  await vi.waitFor(() => expect(ends()).toHaveLength(1), WAIT);
  expect(readFileSync(join(project.root, "new.txt"), "utf8")).toBe("one\n");

  const process = asked?.process ?? "";
  const sent = await page.call(process, "console", "message", {
    session_id,
    message: HOSTILE.replaceAll("\u0000", ""),
  });
  expect(sent).toMatchObject({ ok: true, data: { queued: false } });
  await vi.waitFor(() => expect(ends()).toHaveLength(2), WAIT);

  const listed = await page.call(own, "console", "sessions");
  expect(listed.data).toMatchObject({
    sessions: [{ session_id, title: "write it", changed_files: [expect.stringMatching(/new.txt$/)] }],
  });
  const { data } = await page.call(own, "console", "transcript", { session_id });
  const transcript = Object(data);
  expect(transcript.checkpoints).toMatchObject([{ text: "write it", turns: 1 }, { turns: 0 }]);
  // Foreign text comes back as it was, as data.
  expect(transcript.checkpoints[1].text).toBe(HOSTILE.replaceAll("\u0000", ""));

  const exported = await page.call(own, "console", "export", { session_id });
  expect(Object(exported.data).text).toMatch(/^<!doctype html>/i);
  expect(Object(exported.data).text).not.toContain("<img src=x");
  expect(Object(exported.data).text).not.toMatch(/(?:src|href)="https?:/);

  const { data: history } = await page.call(own, "console", "edits", { file: "new.txt" });
  const [edit] = Object(history).edits;
  expect(edit).toMatchObject({
    action: "fs.write",
    caller: session_id,
    session_title: "write it",
    can_revert: true,
  });
  const reverted = await page.call(own, "console", "revert", { session_id, seq: edit.seq });
  expect(reverted.data).toMatchObject({ applied: false, diff: expect.stringContaining("-one") });

  const [{ seq }] = transcript.checkpoints;
  const preview = await page.call(own, "console", "rewind", { session_id, seq });
  expect(preview.data).toMatchObject({ applied: false, restored: [{ path: "new.txt", change: "removed" }] });
  expect(Object(preview.data).diff).toContain("-one");
  expect(existsSync(join(project.root, "new.txt"))).toBe(true);
  const rewound = await page.call(own, "console", "rewind", { session_id, seq, apply: true });
  expect(rewound.data).toMatchObject({ applied: true, text: "write it" });
  expect(existsSync(join(project.root, "new.txt"))).toBe(false);
  // There is nothing left to undo.
  const { data: after } = await page.call(own, "console", "transcript", { session_id });
  expect(Object(after).checkpoints).toMatchObject([{ text: "write it", turns: 0 }, { turns: 0 }]);

  const forked = await page.call(own, "console", "fork", { session_id, message: "go on" });
  expect(forked.error).toBeNull();
  expect(Object(forked.data).session_id).not.toBe(session_id);
  await vi.waitFor(() => expect(ends()).toHaveLength(3), WAIT);
  const commands = (await page.processes()).map(({ command }) => command).sort();
  expect(commands).toEqual(["console", "session", "session"]);
  expect(await page.call(own, "console", "chain")).toMatchObject({ data: { ok: true } });
}, 120_000);

test("a message from the console reaches the agent in a terminal, and a stop gives unread ones back", async () => {
  await using chat = await openChat([
    say("Hello from here."),
    { ...say("a long answer"), fault: { stall_after: 3 } },
  ]);
  const { root, env } = chat.project;
  await chat.start();
  await using console = await startConsole({ cwd: root, env });
  const page = await openPage(console.link);
  using stream = await page.follow();
  const find = async () => (await page.processes()).find(({ command }) => command === "chat");
  const { id = "", sessions = [] } = (await find()) ?? {};
  const session_id = sessions[0]?.session_id;
  await page.call(id, "console", "message", { session_id, message: "say hello" });
  await chat.terminal.shows("Hello from here.");
  await page.call(id, "console", "message", { session_id, message: "say more" });
  // What is queued before the model is asked belongs to that request.
  await vi.waitFor(() => expect(chat.provider.requests).toHaveLength(2), WAIT);
  const send = (message: string) => page.call(id, "console", "message", { session_id, message });
  expect((await send("first")).data).toEqual({ queued: true });
  await send("second");
  const queued = async () =>
    Object((await page.call(id, "console", "transcript", { session_id })).data).queued;
  expect(await queued()).toEqual(["first", "second"]);
  const taken = await page.call(id, "console", "take_back", { session_id });
  expect(taken.data).toEqual({ messages: ["first", "second"] });
  await send("third");
  await vi.waitFor(async () => {
    const stopped = await page.call(id, "console", "stop", { session_id });
    expect(stopped.data).toEqual({ stopped: true });
  }, WAIT);
  await vi.waitFor(async () => expect((await find())?.state).toBe("idle"), WAIT);
  expect(await queued()).toEqual([]);
  const [unsent] = stream.of("sessions").filter((one) => Object(one.event).type === "unsent");
  expect(unsent?.event).toMatchObject({ messages: [[{ text: "third" }]] });
  // The person in the terminal gets it too.
  await chat.terminal.shows("› third");
}, 120_000);
