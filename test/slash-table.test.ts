import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { createCompleter } from "../packages/app/src/agent/complete-input.ts";
import { isSlashLine, listCommands, runSlashLine } from "../packages/app/src/slash/index.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { accountAt } from "./scripted-account.ts";
import { openSlashSession } from "./slash-session.ts";

/** What each command of the table does, in this order, after one message that changed a file. */
const LINES: readonly (readonly [line: string, outcome: object])[] = [
  ["/help", { text: expect.stringContaining("`/rewind [N]") }],
  ["/plan a door", { text: "report" }],
  ["/solve a riddle", { text: "report" }],
  ["/code a wall", { text: "report" }],
  ["/review", { text: "report" }],
  ["/auto a house", { text: expect.stringContaining("not passed after 3 rounds") }],
  ["/agents", { text: expect.stringMatching(/plan: done after 1 turn\n[\s\S]*\*\*explore\*\*/) }],
  ["/init", { send: expect.stringContaining("AGENTS.md") }],
  ["/branch", { text: expect.stringContaining("* main") }],
  ["/branch topic", { text: "made and switched to `topic`" }],
  ["/diff", { text: expect.stringContaining("made.txt") }],
  ["/stash", { text: expect.stringContaining("Saved working directory") }],
  ["/stash list", { text: expect.stringContaining("stash@{0}") }],
  ["/stash pop", { text: expect.stringContaining("made.txt") }],
  ["/undo", { text: expect.stringContaining("- removed made.txt") }],
  ["/redo", { text: expect.stringContaining("- created made.txt") }],
  ["/rewind 1 files", { text: "files as they were: `made.txt`\n\n`/redo` brings them back" }],
  ["/redo", { text: expect.stringContaining("- created made.txt") }],
  ["/commit feat: made", { text: expect.stringContaining("feat: made") }],
  ["/commit-push-pr", { text: expect.stringContaining("pull request: https://example.org/pr/7") }],
  [
    "/worktree side",
    { text: expect.stringMatching(/on branch `side`; work there with `cd .* && octant chat`/) },
  ],
  ["/rewind 1 conversation", { next: { how: "fork", id: expect.any(String) }, draft: "make it" }],
  ["/resume", { text: "there are no other sessions yet" }],
  ["/fork", { next: { how: "fork", id: expect.any(String) } }],
  ["/clear", { next: "new" }],
  ["/compact", { text: expect.any(String) }],
  ["/model", { text: expect.stringContaining("model: m\n\nThe provider does not list its models") }],
  ["/model other", { text: "model: other" }],
  [
    "/context",
    { text: expect.stringMatching(/tool definitions: \d+ tokens[\s\S]*summary of earlier turns: \d+/) },
  ],
  ["/copy", { copy: "report" }],
  ["/copy code", { text: expect.stringContaining("the last answer has 0 code blocks") }],
  ["/trust", { text: "nothing here waits for your trust" }],
  ["/cost", { text: expect.stringMatching(/^\d+ tokens, cost unknown$/) }],
  ["/export talk.md", { text: "wrote `talk.md`" }],
  ["/export talk.pdf", { text: expect.stringContaining("the name 'talk.pdf' ends otherwise") }],
  ["/export ~/talk.md", { text: "wrote `~/talk.md`" }],
  [
    "/export package.json/talk.md",
    { text: expect.stringContaining("package.json/talk.md cannot be written (") },
  ],
  ["/skills", { text: expect.stringContaining("no skills; a folder with a SKILL.md") }],
  ["/permissions", { text: expect.any(String) }],
  ["/mode", { text: expect.stringContaining("mode: ask") }],
  ["/mode nope", { text: expect.stringContaining("modes: ask, edits, sandbox, plan, explorer") }],
  ["/mcp", { text: expect.stringContaining("no MCP servers are set") }],
  ["/memory", { text: expect.stringContaining("no memory matches") }],
  ["/jobs", { text: expect.any(String) }],
  ["/jobs halt", { text: expect.stringContaining("/jobs takes nothing, or stop and the id of a job") }],
  ["/login", { text: expect.stringContaining("octant login") }],
  ["/quit", { quit: true }],
];

test("every command of the table works in a session, on real git with a bare remote", async () => {
  using project = createFixtureProject();
  const { root, env } = project;
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, env, encoding: "utf8" });
  const remote = join(root, "../remote.git");
  execFileSync("git", ["init", "--quiet", "--bare", remote]);
  git("remote", "add", "origin", remote);
  git("commit", "--quiet", "--all", "--message=Ready");
  git("push", "--quiet", "origin", "main");
  const bin = join(root, "../bin");
  execFileSync("mkdir", [bin]);
  writeFileSync(join(bin, "gh"), "#!/bin/sh\necho https://example.org/pr/7\n", { mode: 0o755 });
  await using session = await openSlashSession(
    project,
    ({ user, answers }) =>
      user.startsWith("make it") && answers === 0
        ? { parts: [{ call: "proc", input: { action: "exec", command: "echo x > made.txt" } }] }
        : { parts: [{ text: "report" }] },
    { PATH: `${bin}:${process.env["PATH"]}` },
  );
  const { opened, cwd } = session;
  const context = { opened, cwd, signal: new AbortController().signal };
  await runSlashLine("/permissions allow *", context);
  await opened.agent.send("make it");
  for (const [line, outcome] of LINES)
    expect(
      await runSlashLine(line, context).catch((cause) => ({ text: `${line}: ${cause}` })),
      line,
    ).toMatchObject(outcome);
  expect(git("log", "-1", "--format=%s", "origin/topic")).toBe("feat: made\n");
  expect(readFileSync(join(root, "talk.md"), "utf8")).toContain("make it");
  expect(readFileSync(join(env["HOME"] ?? "", "talk.md"), "utf8")).toContain("make it");
  const ran = new Set(LINES.map(([line]) => line.slice(1).split(" ")[0]));
  expect(listCommands(opened).filter(({ name }) => !ran.has(name))).toEqual([]);
  rmSync(`${root}-side`, { recursive: true, force: true });
});

test("octant run takes commands about the session: a copy, the state before a message, and the next run is the person's own", async () => {
  using project = createFixtureProject();
  await using provider = await createScriptedProvider(({ user, answers, system }) =>
    answers === 0 && user.startsWith("make it")
      ? { parts: [{ call: "proc", input: { action: "exec", command: "echo x > made.txt" } }] }
      : { parts: [{ text: system.includes("# Role") ? "sub" : "own" }] },
  );
  const run = async (...args: string[]) => {
    const ran = await callOctant(["run", ...args, "--allow", "*"], {
      cwd: project.root,
      env: {
        ...project.env,
        ...accountAt(provider),
        OCTANT_PROVIDER: "anthropic",
        HANZO_MODEL: "m",
      },
    });
    expect(ran.code, ran.stderr).toBe(0);
    return ran.stdout;
  };
  await run("make it");
  expect(await run("--continue", "/plan more")).toBe("sub\n");
  // The newest session is that of the sub-agent.
  expect(await run("--continue", "and you?")).toBe("own\n");
  await run("--continue", "/export talk.html");
  expect(readFileSync(join(project.root, "talk.html"), "utf8")).toContain("and you?");
  const [, copy = ""] = /--resume (\S+) /.exec(await run("--continue", "/rewind 2")) ?? [];
  expect(existsSync(join(project.root, "made.txt"))).toBe(false);
  await run("--resume", copy, "/export copy.md");
  expect(readFileSync(join(project.root, "copy.md"), "utf8")).not.toContain("make it");
  expect(await run("--continue", "/clear")).toContain("starts a new conversation");
});

test("a rule for always stays, also when a command runs that may not make such a folder", async () => {
  using project = createFixtureProject();
  const planted = join(project.root, ".mcp.json");
  {
    const command = "echo {} > .mcp.json; echo up; sleep 300";
    const exec = { action: "exec", command, wait_for: { pattern: "up" } };
    await using session = await openSlashSession(project, ({ answers }) =>
      answers === 0 ? { parts: [{ call: "proc", input: exec }] } : { parts: [{ text: "done" }] },
    );
    await session.run("/permissions allow *");
    await session.opened.agent.send("start it");
    expect(await session.run("/permissions allow fs.read always")).toContain("from now on");
  }
  expect(readFileSync(join(project.root, ".hanzo/settings.local.json"), "utf8")).toContain("fs.read");
  expect(existsSync(planted), "the command's own file was moved away").toBe(false);
});

test("a rule for always stays while a command of another process runs, and a folder that one plants does not", async () => {
  using project = createFixtureProject();
  const settings = join(project.root, ".hanzo/settings.local.json");
  const command = "echo up; until [ -e go ]; do sleep 0.05; done; rm -r .hanzo; mkdir .hanzo; sleep 300";
  const exec = { action: "exec", command, wait_for: { pattern: "up" } };
  await using other = await openSlashSession(project, ({ answers }) =>
    answers === 0 ? { parts: [{ call: "proc", input: exec }] } : { parts: [{ text: "done" }] },
  );
  await other.run("/permissions allow *");
  await other.opened.agent.send("start it");
  {
    await using session = await openSlashSession(project, () => ({ parts: [{ text: "done" }] }));
    expect(await session.run("/permissions allow fs.read always")).toContain("from now on");
  }
  expect(readFileSync(settings, "utf8")).toContain("fs.read");
  writeFileSync(join(project.root, "go"), "");
  await expect.poll(() => existsSync(join(project.root, ".hanzo"))).toBe(false);
});

test("/commit without a message lists the files that it would commit, and commits nothing yet", async () => {
  using project = createFixtureProject();
  writeFileSync(join(project.root, ".env"), "KEY=1\n");
  await using session = await openSlashSession(project, () => ({ parts: [{ text: "fix: it" }] }));
  const { opened, cwd } = session;
  const context = { opened, cwd, signal: new AbortController().signal, hasInput: true };
  const proposed = await runSlashLine("/commit", context);
  expect(proposed).toMatchObject({ draft: "/commit fix: it", text: expect.stringContaining(" .env ") });
  expect(await session.run("/diff")).toContain("not tracked:\n```\n.env");
});

test("/undo shows what would be lost of the person's own changes, and overwrites it only when told to", async () => {
  using project = createFixtureProject();
  const note = join(project.root, "note.txt");
  writeFileSync(note, "before\n");
  await using session = await openSlashSession(project, ({ answers }) =>
    answers === 0
      ? {
          parts: [
            { call: "proc", input: { action: "exec", command: "echo agent > note.txt; rm README.md" } },
          ],
        }
      : { parts: [{ text: "done" }] },
  );
  const { opened, cwd } = session;
  const run = (line: string) => runSlashLine(line, { opened, cwd, signal: new AbortController().signal });
  await run("/permissions allow *");
  await opened.agent.send("change it");
  writeFileSync(note, "mine\n");
  const shown = await run("/undo");
  expect(shown).toMatchObject({ failed: true });
  expect(shown?.text).toContain(
    "you changed note.txt too; above is what overwriting would do\n- `/undo keep`",
  );
  expect(shown?.text).toContain("-mine\n+before");
  expect(readFileSync(note, "utf8")).toBe("mine\n");
  await expect(run("/undo all")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  expect((await run("/undo keep"))?.text).toContain("- kept as you changed it: note.txt");
  expect(readFileSync(note, "utf8")).toBe("mine\n");
  expect(existsSync(join(project.root, "README.md"))).toBe(true);
  await run("/redo keep");
  expect((await run("/undo overwrite"))?.text).toContain("- undone too: note.txt");
  expect(readFileSync(note, "utf8")).toBe("before\n");
});

test("the model reads of commands of the person that changed files or commits, and of no others", async () => {
  using project = createFixtureProject();
  await using session = await openSlashSession(project, ({ answers }) =>
    answers === 0
      ? { parts: [{ call: "fs", input: { action: "write", uri: "made.txt", content: "made\n" } }] }
      : { parts: [{ text: "done" }] },
  );
  const { opened, provider, run } = session;
  await run("/permissions allow *");
  await run("/stash push");
  await opened.agent.send("make it");
  expect(provider.requests.at(-1)?.raw).not.toContain("The person ran");
  const lines = ["/undo", "/redo", "/branch", "/branch topic", "/stash push", "/stash pop", "/stash list"];
  for (const line of [...lines, "/commit feat: made", "/diff", "/rewind 1 files"]) await run(line);
  await opened.agent.send("go on");
  const told = provider.requests.at(-1)?.raw ?? "";
  const named = [...told.matchAll(/The person ran (.*?) themselves/g)].map(([, line]) => line);
  expect(named).toEqual([
    "/undo",
    "/redo",
    "/branch topic",
    "/stash push",
    "/stash pop",
    "/commit feat: made",
    "/rewind 1 files",
  ]);
  expect(told).toContain("- removed made.txt");
});

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

test("a rewind over two turns says how often /redo is needed, and that often brings the files back", async () => {
  using project = createFixtureProject();
  await using session = await openSlashSession(project, ({ user, results }) =>
    results.length > 0
      ? { parts: [{ text: "done" }] }
      : { parts: [{ call: "fs", input: { action: "write", uri: user.trim(), content: "made\n" } }] },
  );
  const { opened, cwd } = session;
  const run = (line: string) => runSlashLine(line, { opened, cwd, signal: new AbortController().signal });
  const files = ["one.txt", "two.txt"];
  const made = () => files.filter((name) => existsSync(join(project.root, name)));
  await run("/permissions allow *");
  for (const name of files) await opened.agent.send(name);
  const { text } = (await run("/rewind 2 files")) ?? {};
  expect(made()).toEqual([]);
  expect(text).toContain("`/redo` brings them back, one of the 2 turns each time");
  await run("/redo");
  expect(made()).toEqual(["one.txt"]);
  await run("/redo");
  expect(made()).toEqual(files);
  await expect(run("/redo")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

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
    await using session = await openSlashSession(project, WRITE);
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
    expect(await run("/mode plan")).toBe("mode: plan. Only read");
    await opened.agent.send("four");
    await run("/mode ask");
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
    const complete = createCompleter(opened, session.cwd);
    expect((await complete("/mode pl")).map(({ value }) => value)).toEqual(["plan"]);
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
  await using session = await openSlashSession(project, () => ({ parts: [{ text: "ok" }] }));
  const { opened, cwd } = session;
  const signal = new AbortController().signal;
  expect(isSlashLine("/notes:review a.ts")).toBe(true);
  expect(await runSlashLine("/notes:review src/a.ts", { opened, cwd, signal })).toEqual({
    send: "Please review src/a.ts",
  });
  expect(await runSlashLine('/notes:review path="a b.ts"', { opened, cwd, signal })).toEqual({
    send: "Please review a b.ts",
  });
  await expect(runSlashLine("/notes:review", { opened, cwd, signal })).rejects.toMatchObject({
    message: "/notes:review needs path=…",
  });
  expect(await session.run("/help")).toContain("`/notes:review path=…` Review a file");
  expect((await createCompleter(opened, cwd)("/notes:review pa")).map(({ value }) => value)).toEqual([
    "path=",
  ]);
});

test("/jobs shows the commands and the failures, and counts the reads that are done", async () => {
  using project = createFixtureProject();
  const calls = [
    ...["answer", "small", "add"].map((pattern) => ({
      call: "fs",
      input: { action: "search_text", pattern },
    })),
    { call: "fs", input: { action: "search_text", pattern: "x", path: "no-such-folder" } },
    { call: "proc", input: { action: "exec", command: "echo by-a-command" } },
  ];
  await using session = await openSlashSession(project, ({ answers }) => ({
    parts: answers === 0 ? calls.map((one, at) => ({ ...one, id: `call_${at}` })) : [{ text: "done" }],
  }));
  const { opened, cwd } = session;
  const context = { opened, cwd, signal: new AbortController().signal };
  await runSlashLine("/permissions allow *", context);
  await opened.agent.send("look around");
  const { text = "" } = (await runSlashLine("/jobs", context)) ?? {};
  expect(text).toMatch(/complete {2}proc\.exec/);
  expect(text).toMatch(/failed {2}fs\.search_text/);
  expect(text).toContain("3 other calls finished without a failure");
  expect(text).not.toMatch(/complete {2}fs\./);
});
