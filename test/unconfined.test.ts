import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { afterAll, expect, test } from "vitest";
import { openAcpClient } from "./acp-client.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { runOctant } from "./octant-process.ts";
import { openChat } from "./open-chat.ts";
import { LAUNCHER } from "./published-command.ts";
import { accountAt } from "./scripted-account.ts";

/** A machine on which no sandbox works, such as a container without user namespaces. */
const node = join(import.meta.dirname, "without-sandbox.sh");
const project = createFixtureProject();
const env = { ...project.env, OCTANT_TEST_NODE: process.execPath };
afterAll(() => project[Symbol.dispose]());

const octant = (...args: string[]) => runOctant(args, { cwd: project.root, env, node });
const TOLD = /commands are not confined: this machine has no sandbox that works/;
const NOTE = /no sandbox confined it/;

/** Runs one command and says what came of it. */
const SCRIPT: Script = ({ answers, results }) =>
  answers === 0
    ? { parts: [{ call: "proc", input: { action: "exec", command: "echo ran >ran.txt; echo out" } }] }
    : { parts: [{ text: `It said: ${results[0]?.text}` }] };

async function runAgent(...args: string[]) {
  await using provider = await createScriptedProvider(SCRIPT);
  const given = ["run", "run it", "--provider", "anthropic", "--model", "some-model", ...args];
  return await runOctant(given, { cwd: project.root, env: { ...env, ...accountAt(provider) }, node });
}

const hasRun = () => existsSync(join(project.root, "ran.txt"));

test("octant call tells before the command, and the answer says so", async () => {
  const { stdout, stderr } = await octant("call", "proc.exec", "command=echo out");
  expect(stdout).toBe("out\n");
  expect(stderr).toMatch(TOLD);
  expect(stderr).toMatch(NOTE);
  expect(stderr.search(TOLD)).toBeLessThan(stderr.search(NOTE));
  const { stderr: read } = await octant("call", "fs.read", "uri=README.md");
  expect(read).not.toMatch(TOLD);
});

test("over MCP the server's log tells at the start, and the answers to commands and tests say so", async () => {
  const transport = new StdioClientTransport({
    command: node,
    args: [LAUNCHER, "serve"],
    cwd: project.root,
    // Every variable has a value.
    env: env as Record<string, string>,
    stderr: "pipe",
  });
  let log = "";
  transport.stderr?.on("data", (data) => {
    log += data;
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  await expect.poll(() => log).toMatch(/sandbox path_check: this machine has no sandbox that works/);
  const exec = { name: "proc", arguments: { action: "exec", command: "echo out" } };
  expect(JSON.stringify(await client.callTool(exec))).toMatch(NOTE);
  await client.close();
});

test("the warning also comes before a hook and an MCP server of the settings", async () => {
  const settings = join(project.root, "../home/.config/hanzo/settings.json");
  mkdirSync(dirname(settings), { recursive: true });
  const hook = { event: "pre_tool_use", tool_pattern: "fs.*", command: "echo ran >hooked.txt" };
  writeFileSync(settings, JSON.stringify({ hooks: [hook] }));
  const { stderr, stdout } = await octant("call", "fs.read", "uri=README.md");
  expect(stdout).toContain("# Demo");
  expect(readFileSync(join(project.root, "hooked.txt"), "utf8")).toBe("ran\n");
  expect(stderr.match(new RegExp(TOLD, "g"))).toHaveLength(1);
  const server = { command: "/bin/sh", args: ["-c", "echo ran >served.txt"] };
  writeFileSync(settings, JSON.stringify({ mcp_servers: { demo: server } }));
  const { stderr: said } = await octant("mcp", "test", "demo");
  expect(readFileSync(join(project.root, "served.txt"), "utf8")).toBe("ran\n");
  expect(said).toMatch(/MCP servers are not confined: this machine has no sandbox that works/);
  rmSync(settings);
});

test("the agent asks about each command, whatever is allowed, until the person accepts it", async () => {
  const rule = { tool_pattern: "proc.*", mode: "allow" };
  const settings = join(project.root, "../home/.config/hanzo/settings.json");
  mkdirSync(dirname(settings), { recursive: true });
  writeFileSync(settings, JSON.stringify({ permissions: [rule] }));
  const refused = await runAgent("--allow", "proc.exec");
  expect(refused).toMatchObject({ code: 5 });
  expect(refused.stderr).toMatch(TOLD);
  expect(refused.stderr).toMatch(
    /no one could approve proc\.exec; this would have allowed it: .*sandbox accept/,
  );
  expect(refused.stderr).not.toMatch(/--allow/);
  expect(refused.stdout).toMatch(/needs the approval of a person[\s\S]*octant sandbox accept/);
  expect(hasRun()).toBe(false);

  expect(await octant("sandbox")).toMatchObject({ code: 1, stdout: expect.stringMatching(/^path_check/) });
  const doctor = await octant("doctor");
  expect(doctor.stdout).toMatch(/^fail {2}sandbox .*octant sandbox accept/m);
  expect(doctor.stdout).toMatch(/\nNot ready/);

  expect(await octant("sandbox", "accept")).toMatchObject({ code: 0 });
  expect(await octant("sandbox")).toMatchObject({ code: 0, stdout: expect.stringMatching(/accepted on/) });
  const ran = await runAgent("--allow", "proc.exec");
  expect(ran.code).toBe(0);
  expect(ran.stderr).toMatch(TOLD);
  expect(ran.stdout).toMatch(NOTE);
  expect(readFileSync(join(project.root, "ran.txt"), "utf8")).toBe("ran\n");

  expect(await octant("sandbox", "revoke")).toMatchObject({ code: 0 });
  expect(await runAgent("--allow", "*")).toMatchObject({ code: 5 });
});

test("an editor shows why it asks, and offers no rule", async () => {
  await using editor = await openAcpClient({ script: SCRIPT, project, env, node, answer: () => "once" });
  await editor.prompt(await editor.newSession(), "run it");
  expect(editor.asked).toHaveLength(1);
  expect(JSON.stringify(editor.asked)).toMatch(/this machine has no sandbox that works/);
  expect(editor.asked[0]?.options.map(({ optionId }) => optionId)).not.toContain("always");
});

test("a conversation, plain or not, begins by telling it", async () => {
  await using opened = await openChat(SCRIPT);
  const { terminal } = opened;
  terminal.type(`OCTANT_TEST_NODE=${process.execPath} ${node} ${LAUNCHER} --plain --model some-model\r`);
  await terminal.shows("this machine has no sandbox that works");
  await terminal.shows(/^>$/m);
  terminal.type("run it\r");
  await terminal.shows(/question: proc\.exec[\s\S]*no sandbox that works/);
});
