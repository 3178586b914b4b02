import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createScriptedProvider } from "@octant/scripted-provider";
import { expect, onTestFinished, test, vi } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { ended, runOctant, startOctant } from "./octant-process.ts";
import { openChat } from "./open-chat.ts";

type Row = {
  readonly pid: number;
  readonly command: string;
  readonly state: string;
  readonly clients: readonly string[];
};

const WRITE = [
  { parts: [{ call: "fs", input: { action: "write", uri: "asked.txt", content: "yes\n" } }] },
  { parts: [{ text: "It is written." }] },
];

/** Starts a server or an agent for a client, which sends one message first. */
function start(args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }, message?: object) {
  const child = startOctant(args, options);
  child.stderr.resume();
  onTestFinished(() => void child.kill("SIGKILL"));
  if (message) child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return child;
}

test("four processes are listed, watched and answered from another terminal, and gone after kill -9", async () => {
  await using chat = await openChat(WRITE);
  const { root, env } = chat.project;
  const at = { cwd: root, env };
  const rows = async (): Promise<readonly Row[]> =>
    JSON.parse((await runOctant(["ps", "--json"], at)).stdout);
  const clientInfo = { name: "a-client", version: "3" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const stdio = start(["serve"], at, { id: 1, method: "initialize", params });
  const http = start(["serve", "--http", "--port", "0"], at);
  const acp = start(
    ["acp", "--model", "some-model"],
    { cwd: root, env: { ...env, ...accountOf(chat) } },
    {
      id: 0,
      method: "initialize",
      params: { protocolVersion: 1, clientCapabilities: {} },
    },
  );
  await once(acp.stdout, "data");
  acp.stdin.write(
    `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "session/new", params: { cwd: root, mcpServers: [] } })}\n`,
  );
  stdio.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  stdio.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" })}\n`);
  for (const child of [stdio, http, acp]) child.stdout.resume();
  await chat.start();
  await vi.waitFor(
    async () =>
      expect((await rows()).map(({ command }) => command).sort()).toEqual([
        "acp",
        "chat",
        "serve",
        "serve --http",
      ]),
    { timeout: 30_000 },
  );
  expect((await rows()).find(({ command }) => command === "serve")?.clients).toEqual(["a-client 3"]);

  const watching = start(["watch", "--json"], at);
  const seen: string[] = [];
  createInterface({ input: watching.stdout }).on("line", (line) => seen.push(line));
  chat.terminal.type("write it\r");
  await vi.waitFor(
    async () => expect((await rows()).find(({ command }) => command === "chat")?.state).toBe("waiting"),
    { timeout: 30_000 },
  );
  const { stdout: asked } = await runOctant(["answer"], at);
  expect(asked).toContain("fs.write");
  const id = /question_\w+/.exec(asked)?.[0] ?? "";
  expect(existsSync(join(root, "asked.txt"))).toBe(false);
  expect(await runOctant(["answer", id, "once"], at)).toMatchObject({ code: 0 });
  await chat.terminal.shows("It is written.");
  expect(existsSync(join(root, "asked.txt"))).toBe(true);
  // The first answer counts.
  expect(await runOctant(["answer", id, "deny"], at)).toMatchObject({ code: 2 });
  await vi.waitFor(() => {
    const topics = new Set(seen.map((line) => JSON.parse(line).topic));
    expect([...topics]).toEqual(expect.arrayContaining(["calls", "sessions", "questions"]));
  });

  for (const child of [stdio, http, acp]) child.kill("SIGKILL");
  await Promise.all(
    [stdio, http, acp].map((child) => child.exitCode ?? child.signalCode ?? once(child, "exit")),
  );
  expect((await rows()).map(({ command }) => command)).toEqual(["chat"]);
  expect(
    readdirSync(
      join(String(env["XDG_STATE_HOME"] ?? join(String(env["HOME"]), ".local/state")), "octant/run"),
    ),
  ).toHaveLength(1);
});

const accountOf = ({ provider }: Awaited<ReturnType<typeof openChat>>) => ({
  ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
  ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
});

test("a run that nobody watches is listed with its session while it works", async () => {
  await using provider = await createScriptedProvider([
    { parts: [{ text: "hello there" }], fault: { stall_after: 3 } },
  ]);
  using project = createFixtureProject();
  const at = {
    cwd: project.root,
    env: {
      ...project.env,
      ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
      ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
    },
  };
  const child = startOctant(["run", "say hello", "--provider", "anthropic"], at);
  child.stdin.end();
  const done = ended(child);
  await vi.waitFor(
    async () => {
      const { stdout } = await runOctant(["ps"], at);
      expect(stdout).toMatch(/run .* working .* say hello/);
    },
    { timeout: 20_000 },
  );
  child.kill("SIGINT");
  expect(await done).toMatchObject({ code: 130 });
});
