import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openAcpClient } from "./acp-client.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { ended, startOctant } from "./octant-process.ts";
import { openChat } from "./open-chat.ts";
import { LAUNCHER } from "./published-command.ts";
import { accountAt } from "./scripted-account.ts";

const DEMO = join(import.meta.dirname, "../packages/mcp/testing/server.ts");
const WAIT = { timeout: 30_000 };

/** A project elsewhere, and the command that serves its tools. */
let there: FixtureProject;
let address: string;
beforeAll(() => {
  there = createFixtureProject();
  const words = [process.execPath, LAUNCHER, "serve", "--wire"].map((word) => `'${word}'`).join(" ");
  address = `exec:cd '${there.root}' && exec ${words}`;
});
afterAll(() => there[Symbol.dispose]());

const main = () => readFileSync(join(there.root, "src/main.ts"), "utf8");
const replace = (old: string, text: string): Script => {
  const hash = /\b[0-9a-f]{12}\b/;
  return (request) => {
    if (request.answers === 0)
      return { parts: [{ call: "fs", input: { action: "read", uri: "src/main.ts" } }] };
    const base_hash = hash.exec(request.results[0]?.text ?? "")?.[0];
    const patch = [{ op: "replace", old, new: text }];
    if (request.answers === 1)
      return {
        parts: [{ call: "fs", input: { action: "apply_patch", uri: "src/main.ts", base_hash, patch } }],
      };
    return { parts: [{ text: "It is changed now." }] };
  };
};

async function startRun(script: Script, ...args: string[]) {
  const here = createFixtureProject();
  const provider = await createScriptedProvider(script);
  const env = { ...here.env, ...accountAt(provider) };
  const start = () => {
    const flags = ["--model", "some-model", "--host", address];
    const child = startOctant(["run", ...args, ...flags], { cwd: here.root, env });
    child.stdin.end();
    return child;
  };
  return {
    here,
    provider,
    start,
    async [Symbol.asyncDispose]() {
      await provider.close();
      here[Symbol.dispose]();
    },
  };
}

test("the person's MCP servers, the chosen tools, and the trusted commands of the host are there", async () => {
  const say: Script = (request) =>
    request.answers === 0
      ? { parts: [{ call: "mcp__demo__demo", input: { action: "echo", text: "from here" } }] }
      : { parts: [{ text: request.results[0]?.text ?? "" }] };
  await using opened = await startRun(say, "/greet Ada", "--tools", "fs", "--allow", "*");
  const { here, provider, start } = opened;
  const settings = join(String(here.env["HOME"]), ".config/hanzo/settings.json");
  mkdirSync(dirname(settings), { recursive: true });
  const demo = { command: process.execPath, args: [DEMO] };
  writeFileSync(settings, JSON.stringify({ mcp_servers: { demo } }));
  const command = join(there.root, ".hanzo/commands/greet.md");
  mkdirSync(dirname(command), { recursive: true });
  writeFileSync(command, "Say hello to $ARGUMENTS politely.\n");
  const untrusted = await ended(start());
  expect(untrusted.stderr).toContain("there is no command /greet");
  // The command runs with the home of this side, so trust is given there.
  await callOctant(["trust", "--yes"], { cwd: there.root, env: here.env });
  const ran = await ended(start());
  expect(ran.code, ran.stderr).toBe(0);
  expect(ran.stdout).toContain("from here");
  const [first] = provider.requests;
  expect(first?.raw).toContain("Say hello to Ada politely.");
  const tools: { name: string }[] = JSON.parse(first?.raw ?? "{}").tools;
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["fs", "mcp__demo__demo"]));
  expect(names).not.toContain("proc");
});

test("Ctrl-C stops the command on the host", async () => {
  const command = "sleep 67.0419";
  const isRunning = () => execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).includes(`\n${command}`);
  const exec: Script = () => ({ parts: [{ call: "proc", input: { action: "exec", command } }] });
  await using opened = await startRun(exec, "wait", "--allow", "*");
  const child = opened.start();
  const done = ended(child);
  await expect.poll(isRunning, WAIT).toBe(true);
  child.kill("SIGINT");
  expect(await done).toMatchObject({ code: 130 });
  await expect.poll(isRunning, WAIT).toBe(false);
});

test("octant acp --host edits there, asks in the editor, and names the files of the host", async () => {
  await using editor = await openAcpClient({ script: replace("42", "43"), args: ["--host", address] });
  const sessionId = await editor.newSession();
  expect(await editor.prompt(sessionId, "make it 43"), editor.stderr()).toBe("end_turn");
  expect(main()).toBe("export const answer = 43;\n");
  expect(editor.asked).toHaveLength(1);
  expect(editor.problems).toEqual([]);
  expect(editor.updates).toContainEqual(
    expect.objectContaining({ kind: "edit", locations: [{ path: join(there.root, "src/main.ts") }] }),
  );
});

test("octant chat --host shows the diff of the host, edits there, and undoes it", async () => {
  writeFileSync(join(there.root, "src/main.ts"), "export const answer = 43;\n");
  await using opened = await openChat(replace("43", "44"));
  const { terminal } = opened;
  await opened.start("", `--host "${address}"`);
  terminal.type("make it 44\r");
  await terminal.shows("+export const answer = 44;");
  await terminal.shows("[y] allow once");
  terminal.type("y");
  await terminal.shows("It is changed now.");
  expect(main()).toBe("export const answer = 44;\n");
  terminal.type("/undo\r");
  await terminal.shows("undone: make it 44");
  expect(main()).toBe("export const answer = 43;\n");
});
