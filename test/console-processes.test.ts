import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { attempt } from "../packages/core/src/index.ts";
import { openPage, startConsole } from "./console-client.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { startSession } from "./mcp-session.ts";
import { runOctant, startOctant } from "./octant-process.ts";
import { openChat } from "./open-chat.ts";
import { accountAt } from "./scripted-account.ts";

const WAIT = { timeout: 40_000, interval: 100 };
const WRITE = [
  { parts: [{ call: "fs", input: { action: "write", uri: "asked.txt", content: "yes\n" } }] },
  { parts: [{ text: "It is written." }] },
];

test("one console shows four kinds of processes, answers a question of the chat, and notices a kill", async () => {
  await using chat = await openChat(WRITE);
  const { root, env } = chat.project;
  const at = { cwd: root, env };
  const start = (args: readonly string[], message?: object, more: NodeJS.ProcessEnv = {}) => {
    const child = startOctant(args, { cwd: root, env: { ...env, ...more } });
    child.stderr.resume();
    onTestFinished(() => void child.kill("SIGKILL"));
    if (message) child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    return child;
  };
  const clientInfo = { name: "a-client", version: "3" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const stdio = start(["serve"], { id: 1, method: "initialize", params });
  const http = start(["serve", "--http", "--port", "0"]);
  const acp = start(
    ["acp", "--model", "some-model"],
    { id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } },
    accountAt(chat.provider),
  );
  await Promise.all([stdio, acp, http].map((child) => once(child.stdout, "data")));
  const opening = { cwd: root, mcpServers: [] };
  acp.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "session/new", params: opening })}\n`);
  for (const child of [stdio, http, acp]) child.stdout.resume();
  await chat.start();

  // The HTTP server has a console already, so its link is printed.
  await using console = await startConsole(at);
  const page = await openPage(console.link);
  using stream = await page.follow();
  const commands = async () => (await page.processes()).map(({ command }) => command).sort();
  await vi.waitFor(
    async () => expect(await commands()).toEqual(["acp", "chat", "serve", "serve --http"]),
    WAIT,
  );

  const input = { uri: "package.json", action: "read" };
  stdio.stdin.write(
    `${JSON.stringify({ jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "fs", arguments: input } })}\n`,
  );
  // The calls of before the page was opened are listed, too.
  const find = () => stream.of("calls").find(({ event }) => Object(event).subject === "package.json");
  await vi.waitFor(() => expect(find()?.event).toMatchObject({ tool: "fs", code: "OK" }), WAIT);
  const row = find();
  const { data } = await page.call(row?.process ?? "", "console", "call", {
    trace_id: Object(row?.event).trace_id,
  });
  expect(data).toMatchObject({ request: { value: { uri: "package.json" } }, code: "OK" });

  chat.terminal.type("write it\r");
  await vi.waitFor(() => expect(stream.of("questions")).toHaveLength(1), WAIT);
  const [asked] = stream.of("questions");
  const { question } = Object(asked?.event);
  expect(question).toMatchObject({ action: "fs.write", always: { rule: { tool_pattern: "fs.write" } } });
  expect(existsSync(join(root, "asked.txt"))).toBe(false);
  const answer = { process: asked?.process, question_id: question.question_id, answer: "once" };
  expect(await page.post("answer", answer)).toEqual({});
  await chat.terminal.shows("It is written.");
  expect(existsSync(join(root, "asked.txt"))).toBe(true);
  // The first answer counts.
  expect(await page.post("answer", { ...answer, answer: "deny" })).toMatchObject({
    error: { code: "NOT_FOUND" },
  });
  await vi.waitFor(() => {
    const types = stream.of("sessions").map((one) => Object(one.event).type);
    expect(types).toEqual(expect.arrayContaining(["user", "permission_asked", "tool_ended", "end"]));
  }, WAIT);

  const gone = (await page.processes()).find(({ pid }) => pid === stdio.pid)?.id;
  stdio.kill("SIGKILL");
  await vi.waitFor(
    () =>
      expect(
        stream.of("roster").filter((one) => one.process === gone && Object(one.event).type === "left"),
      ).toHaveLength(1),
    WAIT,
  );
  expect(await commands()).toEqual(["acp", "chat", "serve --http"]);
}, 120_000);

test("a stopped server is not responding, and its first call afterwards is recorded", async () => {
  using project = createFixtureProject();
  const at = { cwd: project.root, env: project.env };
  await using server = await startSession([], at, { name: "stopped", version: "1" });
  await server.call("fs", { action: "stat", uri: "package.json" });
  const listed = async () => JSON.parse((await runOctant(["ps", "--json"], at)).stdout);
  const [{ pid }] = await listed();
  process.kill(pid, "SIGSTOP");
  onTestFinished(() => void attempt(() => process.kill(pid, "SIGCONT")));
  expect(await listed()).toEqual([{ pid, state: "not responding" }]);
  await using console = await startConsole(at);
  const page = await openPage(console.link);
  using stream = await page.follow();
  const stateOf = async () => (await page.processes()).find((one) => one.pid === pid)?.state;
  await vi.waitFor(async () => expect(await stateOf()).toBe("silent"), WAIT);
  process.kill(pid, "SIGCONT");
  await vi.waitFor(async () => expect(await stateOf()).toBe("idle"), WAIT);
  await server.call("fs", { action: "stat", uri: "woken.md" });
  const row = () => stream.of("calls").find(({ event }) => Object(event).subject === "woken.md");
  await vi.waitFor(() => expect(row()?.event).toMatchObject({ tool: "fs", code: "NOT_FOUND" }), WAIT);
  // Nobody asks for it now: the console notices on its own.
  process.kill(pid, "SIGSTOP");
  const states = () =>
    stream
      .of("roster")
      .flatMap((one) => (one.process.startsWith(`${pid}-`) ? Object(one.event).process?.state : []));
  await vi.waitFor(() => expect(states().at(-1)).toBe("silent"), WAIT);
  process.kill(pid, "SIGCONT");
  await vi.waitFor(() => expect(states().at(-1)).toBe("idle"), WAIT);
}, 120_000);
