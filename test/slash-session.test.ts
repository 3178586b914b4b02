import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Script } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { createCompleter } from "../packages/cli/src/agent/chat/complete.ts";
import { isSlashLine, runSlashLine } from "../packages/cli/src/agent/commands/index.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { openSlashSession as openSession } from "./slash-session.ts";

/** An MCP server with one prompt. */
const SERVER = `
import { createInterface } from "node:readline";
const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { prompts: {} }, serverInfo: { name: "notes", version: "1" },
  }),
  "prompts/list": () => ({
    prompts: [{ name: "review", description: "Review a file", arguments: [{ name: "path", required: true }] }],
  }),
  "prompts/get": ({ arguments: { path } }) => ({
    messages: [{ role: "user", content: { type: "text", text: "Please review " + path } }],
  }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = ANSWERS[method];
  const outcome = answer ? { result: answer(params) } : { error: { code: -32601, message: "unknown" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }) + "\\n");
});
`;

const settings = ({ env }: FixtureProject, content: object) => {
  const path = join(env["HOME"] ?? "", ".config/hanzo/settings.json");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(content));
};

test("/permissions and /mode change what the session may do, and every command is in the audit log", async () => {
  using project = createFixtureProject();
  let answer = 0;
  const results: string[] = [];
  const WRITE: Script = ({ results: [result] }) => {
    if (result) {
      results.push(result.text.split(":")[0] ?? "");
      return { parts: [{ text: "ok" }] };
    }
    const uri = `file${++answer}.txt`;
    return { parts: [{ call: "fs", input: { action: "write", uri, content: "x" } }] };
  };
  {
    await using session = await openSession(project, WRITE);
    const { run, opened } = session;
    await opened.agent.send("one");
    expect(await run("/permissions allow fs.write")).toContain("for this session");
    await opened.agent.send("two");
    await run("/permissions deny fs.*");
    await opened.agent.send("three");
    expect(await run("/permissions")).toMatch(
      /- session, until it ends: deny fs\.\*\n- session, until it ends: allow fs\.write/,
    );
    await run("/permissions ask fs.*");
    await run("/permissions allow fs.write");
    expect(await run("/mode inspect")).toBe("mode: inspect, which allows inspect");
    await opened.agent.send("four");
    await run("/mode default");
    expect(await run("/mode security")).toContain("mode: security");
    await opened.agent.send("five");
    expect(session.provider.requests.at(-1)?.raw).toContain("Think as an attacker");
    await run("/mode default");
    await opened.agent.send("six");
    expect(results).toEqual([
      "APPROVAL_REQUIRED",
      expect.stringContaining("file2.txt"),
      "PERMISSION_DENIED",
      "PERMISSION_DENIED",
      "PERMISSION_DENIED",
      expect.stringContaining("file6.txt"),
    ]);
    await expect(run("/mode nonsense")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(run("/permissions allow")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await run("/permissions deny net.* always")).toContain("settings.local.json");
    expect(readFileSync(join(project.root, ".hanzo/settings.local.json"), "utf8")).toContain("net.*");
    const complete = createCompleter(opened, session.io);
    expect((await complete("/mode in")).map(({ value }) => value)).toEqual(["inspect"]);
    expect((await complete("/stash p")).map(({ value }) => value)).toEqual(["push", "pop"]);
  }
  const { stdout } = await callOctant(["audit", "--json"], { cwd: project.root, env: project.env });
  for (const action of ["command.permissions", "command.mode"]) expect(stdout).toContain(`"${action}"`);
});

test("MCP prompts are commands, filled with their arguments and sent to the model", async () => {
  using project = createFixtureProject();
  const file = join(project.root, "server.mjs");
  writeFileSync(file, SERVER);
  settings(project, { mcp_servers: { notes: { command: process.execPath, args: [file] } } });
  await using session = await openSession(project, () => ({ parts: [{ text: "ok" }] }));
  const { opened, io } = session;
  const signal = new AbortController().signal;
  expect(isSlashLine("/notes:review a.ts")).toBe(true);
  expect(await runSlashLine("/notes:review src/a.ts", { opened, io, signal })).toEqual({
    send: "Please review src/a.ts",
  });
  expect(await runSlashLine('/notes:review path="a b.ts"', { opened, io, signal })).toEqual({
    send: "Please review a b.ts",
  });
  await expect(runSlashLine("/notes:review", { opened, io, signal })).rejects.toMatchObject({
    message: "/notes:review needs path=…",
  });
  expect(await session.run("/help")).toContain("`/notes:review path=…` Review a file");
  expect((await createCompleter(opened, io)("/notes:review pa")).map(({ value }) => value)).toEqual([
    "path=",
  ]);
});
