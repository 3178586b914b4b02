import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import type { Script, ScriptedPart, ScriptedRequest } from "@octant/scripted-provider";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CASE_SCRIPT, CASES } from "./acp-cases.ts";
import { type AcpClient, openAcpClient } from "./acp-client.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { ended, startOctant } from "./octant-process.ts";
import { LAUNCHER } from "./published-command.ts";

const HASH = /\b[0-9a-f]{12}\b/;
const hashIn = ({ results }: ScriptedRequest) => HASH.exec(results[0]?.text ?? "")?.[0];

/** Reads a file, changes it with its hash, and reports it. */
const EDIT: Script = (request) => {
  if (request.answers === 0)
    return { parts: [{ text: "I look." }, { call: "fs", input: { action: "read", uri: "src/main.ts" } }] };
  if (request.answers === 1)
    return {
      parts: [
        {
          call: "fs",
          input: {
            action: "apply_patch",
            uri: "src/main.ts",
            base_hash: hashIn(request),
            patch: [{ op: "replace", old: "42", new: "43" }],
          },
        },
      ],
    };
  return { parts: [{ text: `Done: ${request.results[0]?.text}` }] };
};

test("a turn streams text, calls with kind and location, a diff, usage and a title, all valid by the schema", async () => {
  await using editor = await openAcpClient({ script: EDIT, args: ["--model", "claude-sonnet-5-5"] });
  const sessionId = await editor.newSession();
  expect(await editor.prompt(sessionId, "make it 43")).toBe("end_turn");
  const path = join(editor.project.root, "src/main.ts");
  expect(readFileSync(path, "utf8")).toBe("export const answer = 43;\n");
  expect(editor.asked).toHaveLength(1);
  expect(editor.asked[0]).toMatchObject({
    sessionId,
    toolCall: { toolCallId: expect.stringMatching(/./) },
    options: expect.arrayContaining([expect.objectContaining({ optionId: "once", kind: "allow_once" })]),
  });
  expect(editor.updates).toContainEqual(
    expect.objectContaining({
      sessionUpdate: "tool_call_update",
      kind: "edit",
      status: "in_progress",
      locations: [{ path }],
    }),
  );
  expect(editor.updates).toContainEqual(
    expect.objectContaining({
      sessionUpdate: "tool_call_update",
      status: "completed",
      content: expect.arrayContaining([
        {
          type: "diff",
          path,
          oldText: "export const answer = 42;\n",
          newText: "export const answer = 43;\n",
        },
      ]),
    }),
  );
  const kinds = new Set(editor.updates.map(({ sessionUpdate }) => sessionUpdate));
  for (const kind of [
    "agent_message_chunk",
    "tool_call",
    "usage_update",
    "session_info_update",
    "available_commands_update",
  ])
    expect(kinds).toContain(kind);
  const costs = editor.updates.flatMap((update) =>
    update.sessionUpdate === "usage_update" ? [update.cost?.amount ?? 0] : [],
  );
  expect(costs.length).toBeGreaterThan(1);
  // The cost is that of the session so far.
  expect(costs.every((cost, at) => cost > (costs[at - 1] ?? 0))).toBe(true);
  expect(editor.text()).toContain("I look.");
  expect(editor.problems).toEqual([]);
  expect(await editor.end()).toBe(0);
});

describe("case", () => {
  let editor: AcpClient;
  beforeAll(async () => {
    editor = await openAcpClient({ script: CASE_SCRIPT });
  });
  afterAll(() => editor[Symbol.asyncDispose]());

  test.each(CASES)("$id", async ({ run }) => {
    editor.answer = () => "once";
    const sessionId = await editor.newSession();
    editor.updates.length = 0;
    editor.asked.length = 0;
    await run(editor, sessionId);
    expect(editor.problems).toEqual([]);
    await editor.agent.request(methods.agent.session.delete, { sessionId });
  });
});

describe("an unsaved buffer", () => {
  const TYPED = "export const answer = 42; // typed, not saved\n";
  const AFTER = TYPED.replace("42", "43");
  const open = async (writeTextFile: boolean, script: Script = EDIT) => {
    const project = createFixtureProject();
    const path = join(project.root, "src/main.ts");
    const files = new Map([[path, TYPED]]);
    const editor = await openAcpClient({
      script,
      project,
      files,
      capabilities: { fs: { readTextFile: true, writeTextFile } },
      serve(method, params) {
        if (method !== "fs/write_text_file") return;
        writeFileSync(String(params["path"]), String(params["content"]));
        // A saved buffer follows the file on disk.
        files.delete(String(params["path"]));
      },
    });
    const dispose = async () => {
      await editor[Symbol.asyncDispose]();
      project[Symbol.dispose]();
    };
    return { editor, path, [Symbol.asyncDispose]: dispose };
  };

  test("is read by the model, and is saved before it is edited", async () => {
    await using opened = await open(true);
    const { editor, path } = opened;
    await editor.prompt(await editor.newSession(), "make it 43");
    expect(editor.provider.requests[1]?.results[0]?.text).toContain("typed, not saved");
    expect(editor.saved.get(path)).toContain("typed, not saved");
    expect(readFileSync(path, "utf8")).toBe(AFTER);
    expect(editor.problems).toEqual([]);
  });

  test("is what an edit without a hash starts from, and so is each edit after it", async () => {
    const steps = ["41", "42", "43", "44"];
    await using opened = await open(true, ({ answers }) => {
      const [old, to] = [steps[answers], steps[answers + 1]];
      if (answers === 0) return { parts: [{ call: "fs", input: { action: "read", uri: "src/main.ts" } }] };
      if (to === undefined) return { parts: [{ text: "Done" }] };
      const patch = [{ op: "replace", old, new: to }];
      return { parts: [{ call: "fs", input: { action: "apply_patch", uri: "src/main.ts", patch } }] };
    });
    const { editor, path } = opened;
    await editor.prompt(await editor.newSession(), "make it 44");
    expect(editor.saved.get(path)).toBe(TYPED);
    expect(readFileSync(path, "utf8")).toBe(TYPED.replace("42", "44"));
  });

  test("prevents edits of its file when the editor cannot save it", async () => {
    await using opened = await open(false);
    const { editor, path } = opened;
    await editor.prompt(await editor.newSession(), "make it 43");
    expect(editor.text()).toMatch(/CONFLICT: .*src\/main\.ts has unsaved changes in the editor/);
    expect(readFileSync(path, "utf8")).toBe("export const answer = 42;\n");
  });

  test("is heeded whatever names its file, and a call that is rejected or invalid does not save it", async () => {
    const END = "*** End Patch";
    const words = [
      "*** Begin Patch",
      "*** Update File: src/main.ts",
      "@@",
      `-${TYPED.trim()}`,
      `+${AFTER.trim()}`,
    ];
    const diff = ["--- a/src/main.ts", "+++ b/src/main.ts", "@@ -1 +1 @@"];
    const onDisk = [...diff, "-export const answer = 42;", "+export const answer = 44;", ""].join("\n");
    const edit = (patch: unknown, base_hash: string | undefined) => ({
      call: "fs",
      input: { action: "apply_patch", patch, base_hash },
    });
    const calls: Readonly<Record<string, (hash: string | undefined) => ScriptedPart>> = {
      invalid: (hash) =>
        edit(["*** Begin Patch", ...words.slice(1, 3), "-no such line", END].join("\n"), hash),
      disk: () => ({ call: "vcs", input: { action: "apply", patch: onDisk } }),
      command: () => ({ call: "proc", input: { action: "exec", command: "sed -i s/42/45/ src/main.ts" } }),
      words: (hash) => edit([...words, END].join("\n"), hash),
      rejected: (hash) => edit([...words, END].join("\n"), hash),
    };
    const script: Script = (request) => {
      const { answers, user, results } = request;
      if (answers === 0) return { parts: [{ call: "fs", input: { action: "read", uri: "src/main.ts" } }] };
      if (answers > 1) return { parts: [{ text: `Done: ${results[0]?.text}` }] };
      const made = calls[user.trim()]?.(hashIn(request));
      return { parts: made ? [made] : [] };
    };
    await using opened = await open(true, script);
    const { editor, path } = opened;
    const disk = () => readFileSync(path, "utf8");
    const say = async (text: string, answer = "once") => {
      editor.answer = () => answer;
      editor.updates.length = 0;
      await editor.prompt(await editor.newSession(), text);
      return editor.text();
    };
    await say("rejected", "deny");
    expect(await say("invalid")).toContain("PATCH_FAILED");
    expect(await say("disk")).toMatch(/CONFLICT: .*unsaved changes in the editor/);
    expect([...editor.saved.keys(), disk()]).toEqual(["export const answer = 42;\n"]);
    expect(await say("command")).toContain("changed files on disk that have unsaved changes in the editor");
    writeFileSync(path, "export const answer = 42;\n");
    await say("words");
    expect([editor.saved.get(path), disk()]).toEqual([TYPED, AFTER]);
  });

  test("is reported when a checkout, a test or a tool of an MCP server changes its file on disk", async () => {
    const calls: Readonly<Record<string, ScriptedPart>> = {
      checkout: { call: "vcs", input: { action: "checkout", ref: "main", force: true } },
      test: { call: "test", input: { action: "run" } },
      server: {
        call: "mcp__other__proc",
        input: { action: "exec", command: "echo 'export const answer = 9;' > src/main.ts" },
      },
      look: { call: "vcs", input: { action: "status" } },
    };
    await using opened = await open(true, ({ user, results }) => {
      const call = results.length === 0 ? calls[user.trim()] : undefined;
      return { parts: [call ?? { text: `Done: ${results[0]?.text}` }] };
    });
    const { editor, path } = opened;
    const args = [LAUNCHER, "serve", "--tools", "proc"];
    const { sessionId } = await editor.agent.request(methods.agent.session.new, {
      cwd: editor.project.root,
      mcpServers: [{ name: "other", command: process.execPath, args, env: [] }],
    });
    const say = async (text: string) => {
      editor.updates.length = 0;
      await editor.prompt(sessionId, text);
      return editor.text();
    };
    const tools = async () => {
      await say("hello");
      return editor.provider.requests.at(-1)?.tools;
    };
    await expect.poll(tools, { timeout: 40_000, interval: 500 }).toContain("mcp__other__proc");
    const changes = `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(path)}, "export {};\\n");\n`;
    writeFileSync(join(editor.project.root, "change.test.js"), changes);
    const told = "changed files on disk that have unsaved changes in the editor";
    for (const call of ["server", "test", "checkout"]) {
      const before = readFileSync(path, "utf8");
      expect([call, await say(call)]).toEqual([call, expect.stringContaining(told)]);
      expect(readFileSync(path, "utf8")).not.toBe(before);
    }
    expect(await say("look")).not.toContain(told);
  });
});

test("/undo leaves what the person changed while a question waited", async () => {
  await using editor = await openAcpClient({ script: EDIT });
  const at = (path: string) => join(editor.project.root, path);
  editor.answer = () => {
    writeFileSync(at("README.md"), "mine\n");
    return "once";
  };
  const sessionId = await editor.newSession();
  await editor.prompt(sessionId, "make it 43");
  expect(readFileSync(at("src/main.ts"), "utf8")).toContain("43");
  editor.updates.length = 0;
  await editor.prompt(sessionId, "/undo");
  expect(editor.text()).toContain("- restored src/main.ts");
  expect(editor.text()).not.toContain("README");
  expect(readFileSync(at("src/main.ts"), "utf8")).toContain("42");
  expect(readFileSync(at("README.md"), "utf8")).toBe("mine\n");
});

test("after kill -9 a loaded session shows the call that was cut off as failed", async () => {
  using project = createFixtureProject();
  const running: Script = () => ({
    parts: [{ call: "proc", input: { action: "exec", command: "touch started; sleep 60" } }],
  });
  const killed = await openAcpClient({ script: running, project });
  const sessionId = await killed.newSession();
  void killed.prompt(sessionId, "go").catch(() => {});
  await expect.poll(() => existsSync(join(project.root, "started")), { timeout: 30_000 }).toBe(true);
  killed.kill("SIGKILL");
  await killed[Symbol.asyncDispose]();
  await using editor = await openAcpClient({ script: [], project });
  await editor.agent.request(methods.agent.session.load, { sessionId, cwd: project.root, mcpServers: [] });
  const statuses = editor.updates.flatMap((one) =>
    "status" in one && "toolCallId" in one ? [one.status] : [],
  );
  expect(statuses).toEqual(["in_progress", "failed"]);
  expect(editor.problems).toEqual([]);
});

test("a command runs in the editor's terminal when requested, with an approval, and is shown there", async () => {
  const script: Script = ({ results }) =>
    results.length === 0
      ? { parts: [{ call: "terminal", input: { action: "run", command: "make" } }] }
      : { parts: [{ text: `said: ${results[0]?.text}` }] };
  const used: string[] = [];
  const answers: Readonly<Record<string, object>> = {
    "terminal/create": { terminalId: "term-1" },
    "terminal/wait_for_exit": { exitCode: 3 },
    "terminal/output": { output: "made in the editor", truncated: false },
  };
  await using editor = await openAcpClient({
    script,
    args: ["--editor-terminals"],
    capabilities: { terminal: true },
    serve(method) {
      used.push(method);
      return answers[method];
    },
  });
  await editor.prompt(await editor.newSession(), "go");
  expect(editor.asked).toHaveLength(1);
  expect(editor.text()).toContain("made in the editor");
  expect(used).toEqual(["terminal/create", "terminal/wait_for_exit", "terminal/output", "terminal/release"]);
  const shown = { content: expect.arrayContaining([{ type: "terminal", terminalId: "term-1" }]) };
  expect(editor.updates).toContainEqual(expect.objectContaining(shown));
  expect(editor.updates).toContainEqual(expect.objectContaining({ status: "completed", ...shown }));
  expect(editor.problems).toEqual([]);
});

test("lines may be long, split anywhere, end in CRLF, have unknown fields, or be invalid; stdout is protocol only", async () => {
  using project = createFixtureProject();
  const child = startOctant(["acp"], { cwd: project.root, env: project.env });
  const output = ended(child);
  const line = (message: object) => JSON.stringify({ jsonrpc: "2.0", ...message });
  const initialize = line({
    id: 1,
    method: "initialize",
    params: { protocolVersion: 1, unknown: "x".repeat(1024 * 1024), _meta: { a: 1 } },
  });
  for (let at = 0; at < initialize.length; at += 70_001) child.stdin.write(initialize.slice(at, at + 70_001));
  child.stdin.write("\r\n{broken\n\n[]\n");
  child.stdin.write(
    `${line({ id: 2, method: "session/new", params: { cwd: project.root, mcpServers: [] } })}\n`,
  );
  child.stdin.write(`${line({ id: 3, method: "session/list", params: {}, more: true })}\n`);
  const first = line({ id: 4, method: "nothing/here" });
  child.stdin.write(`${first}\n`);
  child.stdin.end();
  const { code, stdout } = await output;
  expect(code).toBe(0);
  const messages = stdout
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text));
  const by = (id: number) => messages.find((message) => message.id === id);
  expect(by(1)).toMatchObject({ result: { protocolVersion: 1 } });
  // Without credentials the editor shows how to get some.
  expect(by(2)).toMatchObject({ error: { code: -32000, message: expect.stringContaining("API key") } });
  expect(by(3)).toMatchObject({ result: { sessions: [] } });
  expect(by(4)).toMatchObject({ error: { code: -32601 } });
  for (const message of messages) expect(message.jsonrpc).toBe("2.0");
});

test("octant setup --acp prints settings for Zed, JetBrains and Neovim that start octant acp", async () => {
  using project = createFixtureProject();
  const { code, stdout } = await callOctant(["setup", "--acp", "--json"], {
    cwd: project.root,
    env: project.env,
  });
  expect(code).toBe(0);
  const rows: { editor: string; text: string }[] = JSON.parse(stdout);
  const textFor = (editor: string) => rows.find((row) => row.editor.includes(editor))?.text ?? "";
  for (const editor of ["Zed", "JetBrains"]) {
    const { command, args } = JSON.parse(textFor(editor)).agent_servers.Octant;
    expect([command, args.at(-1)]).toEqual([expect.stringContaining("node"), "acp"]);
  }
  expect(textFor("codecompanion")).toContain('"acp"');
});
