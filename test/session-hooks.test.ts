import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAgent, withMentions } from "@octant/app";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { CLAUDE_EVENTS } from "../packages/runtime/src/hooks/hook.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { accountAt } from "./scripted-account.ts";
import { openSlashSession } from "./slash-session.ts";

function setHooks(project: FixtureProject, hooks: readonly object[], where = "home"): void {
  const folder =
    where === "home" ? join(project.env["HOME"] ?? "", ".config/hanzo") : join(project.root, ".hanzo");
  mkdirSync(folder, { recursive: true });
  const permissions = where === "home" ? { permissions: { "proc.exec": "allow" } } : {};
  writeFileSync(join(folder, "settings.json"), JSON.stringify({ hooks, ...permissions }));
}

/** Keeps what it reads, and answers with this. */
const hook = (event: string, answer: object | string = "", more: object = {}) => ({
  event,
  command: `cat >> ${event}.jsonl; echo >> ${event}.jsonl; ${
    typeof answer === "string" ? answer || "true" : `printf '%s' '${JSON.stringify(answer)}'`
  }`,
  ...more,
});

const records = ({ root }: FixtureProject, event: string): Record<string, unknown>[] => {
  const file = join(root, `${event}.jsonl`);
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
};

const DONE: Script = () => ({ parts: [{ text: "done" }] });

test("start, message, call, end and close run their hooks with the fields of Claude Code", async () => {
  using project = createFixtureProject();
  setHooks(project, [
    hook("SessionStart", {
      hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: "CTX-START" },
    }),
    hook("UserPromptSubmit", "echo CTX-PROMPT"),
    hook("PreToolUse", "", { matcher: "Bash" }),
    hook("PreToolUse", "exit 2", { matcher: "Write|Edit" }),
    hook("PostToolUse", { decision: "block", reason: "NOTE-POST" }, { matcher: "Ba.*" }),
    hook("Stop", `grep -q '"stop_hook_active":true' Stop.jsonl || { echo GO-ON >&2; exit 2; }`),
    hook("SessionEnd"),
  ]);
  const { session, sent } = await (async () => {
    await using opened = await openSlashSession(project, ({ answers }) =>
      answers === 0
        ? { parts: [{ call: "proc", input: { action: "exec", command: "echo hi" } }] }
        : { parts: [{ text: `answer ${answers}` }] },
    );
    const end = await opened.opened.agent.send("hello");
    expect(end.reason).toBe("done");
    return { session: opened.opened.agent.session.id, sent: opened.provider.requests.map(({ raw }) => raw) };
  })();
  expect(sent[0]).toContain("CTX-START");
  expect(sent[0]).toContain("CTX-PROMPT");
  expect(sent[1]).toContain("NOTE-POST");
  expect(sent[2]).toContain("GO-ON");
  expect(sent).toHaveLength(3);
  const base = {
    session_id: session,
    cwd: project.root,
    transcript_path: expect.stringMatching(/^\/.*transcript\.jsonl$/),
  };
  expect(records(project, "SessionStart")).toEqual([
    { ...base, hook_event_name: "SessionStart", source: "startup" },
  ]);
  expect(records(project, "UserPromptSubmit")).toEqual([
    { ...base, hook_event_name: "UserPromptSubmit", prompt: "hello" },
  ]);
  expect(records(project, "PreToolUse")).toMatchObject([
    { ...base, tool_name: "Bash", tool_input: { command: "echo hi" } },
  ]);
  expect(records(project, "PostToolUse")).toMatchObject([
    { tool_name: "Bash", tool_response: { exit_code: 0 } },
  ]);
  expect(records(project, "Stop")).toMatchObject([
    { stop_hook_active: false, last_assistant_message: "answer 1" },
    { stop_hook_active: true, last_assistant_message: "answer 2" },
  ]);
  expect(records(project, "SessionEnd")).toEqual([
    { ...base, hook_event_name: "SessionEnd", reason: "other" },
  ]);
});

test("a hook sees each file of an edit as a call of Claude Code: its absolute path, the old text and the new", async () => {
  using project = createFixtureProject();
  const { HOME = "" } = project.env;
  mkdirSync(join(HOME, ".config/hanzo"), { recursive: true });
  const guard = `cat > now.json; cat now.json >> PreToolUse.jsonl; echo >> PreToolUse.jsonl
    case "$(jq -r .tool_input.file_path now.json)" in "$CLAUDE_PROJECT_DIR"/kept/*) echo KEPT >&2; exit 2;; esac`;
  const hooks = [
    { event: "PreToolUse", matcher: "Edit|Write", command: guard },
    hook("PostToolUse", "", { matcher: "Edit|Write" }),
    hook("UserPromptSubmit"),
    hook("PreToolUse", "", { matcher: "Task|Read" }),
  ];
  const permissions = { "fs.write": "allow", "fs.apply_patch": "allow", "agent.spawn": "deny" };
  writeFileSync(join(HOME, ".config/hanzo/settings.json"), JSON.stringify({ hooks, permissions }));
  const at = (path: string) => join(project.root, path);
  writeFileSync(at("one.txt"), "first\nlast\n");
  mkdirSync(at("kept"));
  writeFileSync(at("kept/two.txt"), "kept\n");
  const edits = [
    { op: "replace", old: "first", new: "FIRST" },
    { op: "insert", line: 2, text: "between\n" },
  ];
  const twoFiles =
    "*** Begin Patch\n*** Update File: one.txt\n-FIRST\n+first\n*** Update File: kept/two.txt\n-kept\n+lost\n*** End Patch\n";
  const calls = [
    { call: "fs", input: { action: "read", uri: "one.txt" } },
    { call: "fs", input: { action: "apply_patch", uri: "./one.txt", patch: edits } },
    { call: "fs", input: { action: "apply_patch", patch: twoFiles } },
    { call: "agent", input: { action: "spawn", role: "explorer", task: "look" } },
  ];
  await using session = await openSlashSession(project, ({ answers }) => ({
    parts: [calls[answers] ?? { text: "done" }],
  }));
  const { opened, provider } = session;
  await opened.agent.send(await withMentions(opened, "see @one.txt please"));
  const session_id = opened.agent.session.id;
  const [mentioned, read, edit, first, second, task] = records(project, "PreToolUse");
  const fileAt = (path: string) => ({ session_id, tool_input: { file_path: at(path) } });
  expect([mentioned, read]).toMatchObject([fileAt("one.txt"), fileAt("one.txt")]);
  expect(edit).toMatchObject({
    tool_name: "Edit",
    tool_use_id: expect.any(String),
    tool_input: { file_path: at("one.txt"), old_string: "first", new_string: "FIRST\nbetween\n" },
  });
  expect(records(project, "PostToolUse")).toMatchObject([{ tool_use_id: edit?.["tool_use_id"] }]);
  const change = (path: string, old_string: string, new_string: string) => ({
    tool_input: { file_path: at(path), old_string, new_string },
  });
  expect(first).toMatchObject(change("one.txt", "FIRST", "first"));
  expect(second).toMatchObject(change("kept/two.txt", "kept", "lost"));
  expect(provider.requests.at(-2)?.raw).toContain("KEPT");
  expect(readFileSync(at("kept/two.txt"), "utf8")).toBe("kept\n");
  expect(task).toMatchObject({
    tool_name: "Task",
    tool_input: { subagent_type: "explorer", prompt: "look" },
  });
  expect(records(project, "UserPromptSubmit")).toMatchObject([{ prompt: "see @one.txt please" }]);
});

test("a hook reads the conversation in the file of transcript_path, in the form of Claude Code", async () => {
  using project = createFixtureProject();
  // As a hook of Claude Code does it: the path from stdin, then its lines.
  const copy = `read -r line; path=$(printf '%s' "$line" | sed 's/.*"transcript_path":"\\([^"]*\\)".*/\\1/')`;
  setHooks(project, [{ event: "Stop", command: `${copy}; cat "$path" > seen.jsonl` }]);
  await using session = await openSlashSession(project, ({ answers }) =>
    answers === 0
      ? { parts: [{ call: "proc", input: { action: "exec", command: "echo hi" } }] }
      : { parts: [{ text: "all done" }] },
  );
  await session.opened.agent.send("hello");
  const lines = readFileSync(join(project.root, "seen.jsonl"), "utf8").trimEnd().split("\n");
  const id = expect.any(String);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { type: "user", message: { role: "user", content: [{ type: "text", text: "hello" }] } },
    { type: "assistant", message: { content: [{ type: "tool_use", id, input: { command: "echo hi" } }] } },
    { type: "user", message: { content: [{ type: "tool_result", tool_use_id: id, is_error: false }] } },
    { type: "assistant", sessionId: session.opened.agent.session.id },
  ]);
});

test("a hook of any event that takes too long is ended, and the session goes on", async () => {
  using project = createFixtureProject();
  const hooks = CLAUDE_EVENTS.map((event) => ({
    event,
    ...(event === "PreToolUse" && { matcher: "Read" }),
    command: `sleep 1000; echo late > late-${event}`,
    timeout_ms: 300,
  }));
  setHooks(project, hooks);
  const late = (event: string) => `a ${event} hook failed: it took longer than 300 ms`;
  const told: string[] = [];
  {
    await using session = await openSlashSession(project, ({ answers, system }) =>
      answers === 0 && !/sub-agent/.test(system)
        ? {
            parts: [
              { call: "proc", input: { action: "exec", command: "echo hi" } },
              { call: "fs", input: { action: "read", uri: "README.md" } },
            ],
          }
        : { parts: [{ text: "done" }] },
    );
    const { agent, octant } = session.opened;
    agent.subscribe((one) => {
      if (one.type === "notice") told.push(one.text);
    });
    expect((await agent.send("hello")).reason).toBe("done");
    const [command, read] = session.provider.requests[1]?.results ?? [];
    expect(command?.text).toContain("hi");
    expect(read?.text).toContain(late("PreToolUse"));
    expect(await session.run("/solve it")).toBe("done");
    await agent.compact();
    const fields = { message: "x", notification_type: "permission_prompt" };
    const facts = { session: agent.session.id, subject: "permission_prompt", fields };
    const { messages } = await octant.hooks.fire("Notification", facts, new AbortController().signal);
    expect(messages).toEqual([late("Notification")]);
  }
  expect(told).toEqual(
    expect.arrayContaining(["SessionStart", "UserPromptSubmit", "Stop", "PreCompact"].map(late)),
  );
  expect(readdirSync(project.root).filter((name) => name.startsWith("late-"))).toEqual([]);
});

test("a refused message never reaches the model, and a refused call is told with the reason", async () => {
  using project = createFixtureProject();
  setHooks(project, [
    { event: "UserPromptSubmit", command: `grep -q secret && { echo NOT THIS >&2; exit 2; }; true` },
    { event: "PreToolUse", matcher: "Bash", command: "echo NO SHELL >&2; exit 2" },
    { event: "PreCompact", matcher: "manual", command: "echo KEEP IT >&2; exit 2" },
  ]);
  await using session = await openSlashSession(project, ({ answers }) =>
    answers === 0
      ? { parts: [{ call: "proc", input: { action: "exec", command: "touch made" } }] }
      : { parts: [{ text: "done" }] },
  );
  const { agent } = session.opened;
  const notices: string[] = [];
  agent.subscribe((event) => {
    if (event.type === "notice") notices.push(event.text);
  });
  expect(await agent.send("a secret")).toMatchObject({
    reason: "failed",
    message: "a hook refused the message: NOT THIS",
  });
  expect(session.provider.requests).toHaveLength(0);
  expect((await agent.send("fine")).reason).toBe("done");
  expect(session.provider.requests[0]?.raw).not.toContain("a secret");
  expect(session.provider.requests[1]?.results[0]?.text).toContain("NO SHELL");
  expect(existsSync(join(project.root, "made"))).toBe(false);
  expect(await agent.compact()).toBe(false);
  expect(notices).toContain("a hook refused the compaction: KEEP IT");
});

test("a hook decides before the person is asked, in its own sandbox, and its failure is a warning", async () => {
  using project = createFixtureProject();
  setHooks(project, [
    // For a command that only reads, the sandbox of the command is read-only; that of the hook is not.
    {
      event: "PreToolUse",
      matcher: "Bash",
      command: "jq -r .tool_input.command >> log.txt || exit 2; exit 1",
    },
    { event: "PreToolUse", matcher: "Write", command: "echo NOT ON FRIDAY >&2; exit 2" },
  ]);
  await using session = await openSlashSession(project, ({ answers }) => {
    if (answers === 0) return { parts: [{ call: "proc", input: { action: "exec", command: "ls src" } }] };
    if (answers === 1)
      return { parts: [{ call: "fs", input: { action: "write", uri: "made.txt", content: "x" } }] };
    return { parts: [{ text: "done" }] };
  });
  const { agent } = session.opened;
  const seen: string[] = [];
  agent.subscribe((event) => {
    if (event.type === "notice") seen.push(event.text);
    if (event.type === "permission_asked") seen.push(`asked about ${event.action}`);
  });
  expect((await agent.send("list them")).reason).toBe("done");
  expect(readFileSync(join(project.root, "log.txt"), "utf8")).toBe("ls src\n");
  expect(session.provider.requests[1]?.results[0]?.text).toContain("main.ts");
  expect(seen).toEqual([expect.stringContaining("a PreToolUse hook failed: exit code 1")]);
  expect(session.provider.requests[2]?.results[0]?.text).toContain("NOT ON FRIDAY");
  expect(existsSync(join(project.root, "made.txt"))).toBe(false);
});

test("hooks of a project wait for trust; a sub-agent has its own end", async () => {
  using project = createFixtureProject();
  setHooks(project, [hook("SessionStart"), hook("Stop"), hook("SubagentStop")], "project");
  {
    await using session = await openSlashSession(project, DONE);
    await session.opened.agent.send("hello");
  }
  expect(records(project, "SessionStart")).toEqual([]);
  const { callOctant } = await import("./octant-in-process.ts");
  await callOctant(["trust", "--yes"], { cwd: project.root, env: project.env });
  await using session = await openSlashSession(project, DONE);
  expect(await session.run("/solve it")).toBe("done");
  expect(records(project, "SubagentStop")).toMatchObject([{ agent_type: "solve", stop_hook_active: false }]);
  expect(records(project, "Stop")).toEqual([]);
  await session.opened.agent.send("hello");
  expect(records(project, "Stop")).toHaveLength(1);
  expect(records(project, "SessionStart")).toHaveLength(1);
});

test("a program that embeds the agent sees the same moments and answers them in the same form", async () => {
  using project = createFixtureProject();
  const provider = await createScriptedProvider(DONE);
  const seen: string[] = [];
  {
    await using agent = createAgent({
      cwd: project.root,
      env: { ...project.env, ...accountAt(provider) },
      provider: "anthropic",
      model: "m",
      hooks: {
        onMoment(moment, fields) {
          seen.push(moment);
          if (moment === "SessionStart") seen.push(fields.source);
          if (moment === "UserPromptSubmit") return { context: `typed: ${fields.prompt}` };
          return moment === "Stop" && !fields.stop_hook_active ? { block: "once more" } : undefined;
        },
      },
    });
    for await (const _event of agent.run("hi"));
  }
  expect(seen).toEqual(["SessionStart", "startup", "UserPromptSubmit", "Stop", "Stop", "SessionEnd"]);
  expect(provider.requests[0]?.raw).toContain("typed: hi");
  expect(provider.requests[1]?.raw).toContain("once more");
  await provider[Symbol.asyncDispose]();
});

test("no hook reads a file that a rule denies to commands", async () => {
  using project = createFixtureProject();
  writeFileSync(join(project.root, ".env"), "TOKEN=hidden-from-hooks\n");
  const ours = ["pre_tool_use", "post_tool_use"];
  const events = ["PreToolUse", "PostToolUse", "SessionStart", "Stop", ...ours];
  const hooks = events.map((event) => ({
    event,
    command: `cat .env README.md > seen-${event}.txt`,
    ...(ours.includes(event) && { tool_pattern: "proc.exec" }),
  }));
  setHooks(project, []);
  const deny = { tool_pattern: "*", mode: "deny", args: { path: [".env"] } };
  const permissions = [deny, { tool_pattern: "proc.exec", mode: "allow" }];
  const file = join(project.env["HOME"] ?? "", ".config/hanzo/settings.json");
  writeFileSync(file, JSON.stringify({ hooks, permissions }));
  {
    await using opened = await openSlashSession(project, ({ answers }) =>
      answers === 0
        ? { parts: [{ call: "proc", input: { action: "exec", command: "echo hi" } }] }
        : { parts: [{ text: "done" }] },
    );
    expect(await opened.opened.agent.send("hello")).toMatchObject({ reason: "done" });
  }
  for (const event of events) {
    const seen = readFileSync(join(project.root, `seen-${event}.txt`), "utf8");
    expect(seen, event).toContain("# Demo");
    expect(seen, event).not.toContain("hidden-from-hooks");
  }
});
