import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createScriptedProvider, type ScriptedTurn } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { AGENT_HOSTS, placeSession } from "./agent-hosts.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { startSession } from "./mcp-session.ts";
import { callOctant } from "./octant-in-process.ts";
import { accountAt } from "./scripted-account.ts";

const call = (tool: string, input: object): ScriptedTurn => ({
  parts: [{ call: tool, input: { ...input } }],
});

const settings = ({ env }: FixtureProject, content: object) => {
  const path = join(env["HOME"] ?? "", ".config/hanzo/settings.json");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(content));
};

const keysOf = (project: FixtureProject, provider: { baseUrl(api: "anthropic"): string }) => ({
  ...project.env,
  ...accountAt(provider),
  HANZO_MODEL: "m",
  OCTANT_PROVIDER: "anthropic",
});

test.each([false, true])(
  "a mode and a denial of the session bind its sub-agents (worktree: %s)",
  async (worktree) => {
    using project = createFixtureProject();
    const git = (...args: string[]) => execFileSync("git", args, { cwd: project.root, env: project.env });
    git("commit", "--quiet", "--all", "--message=Ready");
    settings(project, {
      modes: { delegate: { summary: "s", prompt: "Delegate.", tools: ["agent", "fs", "vcs", "proc"] } },
      permissions: { "*": "allow" },
    });
    let child: ScriptedTurn = {};
    const refusals: string[] = [];
    await using provider = await createScriptedProvider(({ system, answers, results }) => {
      if (system.includes("# Role")) {
        if (answers === 0) return child;
        refusals.push(results[0]?.text.split("\n")[0] ?? "");
        return { parts: [{ text: "tried" }] };
      }
      if (results.length > 0) return { parts: [{ text: "done" }] };
      return call("agent", { action: "spawn", role: "code", task: "try it", worktree });
    });
    const run = (...args: string[]) =>
      callOctant(["run", ...args, "--tools", "agent,core"], {
        cwd: project.root,
        env: keysOf(project, provider),
      });
    child = call("fs", { action: "write", uri: "one.txt", content: "x" });
    expect((await run("go")).code).toBe(0);
    expect(refusals.at(-1)).not.toContain("PERMISSION_DENIED");
    // The next run of the session is still in the mode, and so are its sub-agents.
    expect((await run("--continue", "/mode delegate")).stdout).toContain("mode: delegate");
    child = call("ws", { action: "detect" });
    expect((await run("--continue", "go on")).code).toBe(0);
    expect(refusals.at(-1)).toContain("the developer mode delegate does not have ws.detect");
    await run("--continue", "/mode default");
    await run("--continue", "and on");
    expect(refusals.at(-1)).not.toContain("PERMISSION_DENIED");
  },
);

test("a client of octant serve --tools agent sees one tool, and its sub-agents have those of the project", async () => {
  using project = createFixtureProject();
  await using provider = await createScriptedProvider(({ answers, results }) =>
    answers === 0
      ? call("fs", { action: "write", uri: "made.txt", content: "x" })
      : { parts: [{ text: results[0]?.text ?? "" }] },
  );
  await using session = await startSession(["--tools", "agent"], {
    cwd: project.root,
    env: keysOf(project, provider),
  });
  const started = await session.call("agent", {
    action: "spawn",
    role: "code",
    task: "make it",
    background: true,
  });
  const { agent_id } = (started.data ?? {}) as { agent_id?: string };
  await expect
    .poll(
      async () => {
        const listed = await session.call("agent", { action: "list" });
        const { agents } = listed.data as { agents: { agent_id: string; state: string }[] };
        return agents.find((one) => one.agent_id === agent_id)?.state;
      },
      { timeout: 40_000 },
    )
    .toBe("done");
  expect(existsSync(join(project.root, "made.txt"))).toBe(true);
});

const RULES = [
  { tool_pattern: "fs.*", mode: "deny", args: { uri: "locked/**" }, reason: "locked" },
  { tool_pattern: "proc.exec", mode: "deny", reason: "no commands" },
  { tool_pattern: "*", mode: "allow" },
];

/** Attempts of a sub-agent: the first lines of the answers to them. */
const ATTEMPTS: readonly ScriptedTurn[] = [
  call("fs", { action: "write", uri: "locked/new.txt", content: "x" }),
  call("fs", { action: "read", uri: "locked/secret.txt" }),
  call("proc", { action: "exec", command: "cat locked/secret.txt" }),
];

/** A project with a locked folder, and a model whose agents all try to get at it and spawn the next one of a chain. */
async function startAttempts() {
  const project = createFixtureProject();
  mkdirSync(join(project.root, "locked"));
  writeFileSync(join(project.root, "locked/secret.txt"), "the secret\n");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: project.root, env: project.env });
  git("add", "--all");
  git("commit", "--quiet", "--message=Ready");
  settings(project, { permissions: RULES });
  const answers = new Map<string, string[]>();
  const provider = await createScriptedProvider(({ user, answers: asked, results }) => {
    const [name = "", ...deeper] = user.split("\n")[0]?.split(" > ") ?? [];
    const given = answers.get(user) ?? [];
    answers.set(user, [...given, ...results.map(({ text }) => text)]);
    const attempt = ATTEMPTS[asked];
    if (attempt) return attempt;
    const [next] = deeper;
    if (next === undefined || asked > ATTEMPTS.length) return { parts: [{ text: `${name} ended` }] };
    const [role = "", place] = next.split(" ");
    return call("agent", {
      action: "spawn",
      role,
      task: deeper.join(" > "),
      worktree: place === "worktree",
    });
  });
  return {
    project,
    provider,
    expectRefused(agents: number) {
      expect(answers.size).toBe(agents);
      for (const [task, given] of answers) {
        expect(given.join("\n"), task).not.toContain("the secret");
        for (const answer of given.slice(0, ATTEMPTS.length))
          expect(answer, task).toContain("PERMISSION_DENIED");
      }
      expect(existsSync(join(project.root, "locked/new.txt"))).toBe(false);
    },
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      project[Symbol.dispose]();
    },
  };
}

test("deny rules bind sub-agents of every role and depth over MCP, in worktrees too", async () => {
  await using attempts = await startAttempts();
  const { project, provider } = attempts;
  await using session = await startSession(["--tools", "agent,core"], {
    cwd: project.root,
    env: keysOf(project, provider),
  });
  const chains = ["auto > code > explore", "code worktree > auto worktree > review", "solve"];
  for (const task of chains) {
    const [role = "", place] = task.split(" > ")[0]?.split(" ") ?? [];
    const started = await session.call("agent", {
      action: "spawn",
      role,
      task,
      worktree: place === "worktree",
      background: true,
    });
    const { agent_id } = started.data as { agent_id: string };
    const ended = await session.call("agent", { action: "await", agent_ids: [agent_id] });
    expect(ended.data, JSON.stringify(ended)).toMatchObject({ agents: [{ state: "done" }] });
  }
  attempts.expectRefused(7);
});

test.each(AGENT_HOSTS)(
  "deny rules bind an agent and its sub-agents of every depth, in worktrees too (%s host)",
  async (host) => {
    await using attempts = await startAttempts();
    const { project, provider } = attempts;
    await using place = await placeSession(host, project);
    const options = { cwd: place.cwd, env: keysOf(project, provider) };
    for (const prompt of ["main > auto > code > explore", "other > code worktree > review"]) {
      const { code, stderr } = await callOctant(["run", prompt, ...place.flags], options);
      expect(code, stderr).toBe(0);
    }
    attempts.expectRefused(7);
  },
);

test("the sub-agents of one in a worktree work there, and its worktrees are merged there", async () => {
  using project = createFixtureProject();
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: project.root, env: project.env, encoding: "utf8" }).trim();
  git("commit", "--quiet", "--all", "--message=Ready");
  const write = (uri: string) => call("fs", { action: "write", uri, content: `${uri}\n` });
  const spawn = (task: string, worktree: boolean) =>
    call("agent", { action: "spawn", role: "code", task, worktree });
  const scripts: Readonly<Record<string, readonly ScriptedTurn[]>> = {
    outer: [write("outer.txt"), spawn("inner", false), spawn("apart", true), write("last.txt")],
    inner: [write("inner.txt")],
    apart: [write("apart.txt")],
  };
  const seen: string[] = [];
  await using provider = await createScriptedProvider(({ user, answers }) => {
    if (user === "outer") seen.push(git("status", "--porcelain"));
    return scripts[user]?.[answers] ?? { parts: [{ text: "done" }] };
  });
  await using session = await startSession(["--tools", "agent"], {
    cwd: project.root,
    env: keysOf(project, provider),
  });
  const ended = await session.call("agent", {
    action: "spawn",
    role: "auto",
    task: "outer",
    worktree: true,
  });
  expect(ended.data, JSON.stringify(ended)).toMatchObject({ state: "done", worktree: { merged: true } });
  expect(seen.join("")).toBe("");
  for (const name of ["outer", "inner", "apart", "last"])
    expect(existsSync(join(project.root, `${name}.txt`)), name).toBe(true);
});

test.each(AGENT_HOSTS)("--mode binds sub-agents (%s host)", async (host) => {
  using project = createFixtureProject();
  await using place = await placeSession(host, project);
  settings(project, { permissions: { "*": "allow" } });
  const given: string[] = [];
  await using provider = await createScriptedProvider(({ system, answers, results }) => {
    given.push(...results.map(({ text }) => text));
    if (answers > 0) return { parts: [{ text: "done" }] };
    if (system.includes("# Role")) return call("proc", { action: "exec", command: "echo > made.txt" });
    return call("agent", { action: "spawn", role: "code", task: "make it" });
  });
  const run = (mode: string) =>
    callOctant(["run", "go", "--mode", mode, ...place.flags], {
      cwd: place.cwd,
      env: keysOf(project, provider),
    });
  expect((await run("apply")).code).toBe(0);
  expect(given[0]).toContain("mode apply does not allow proc.exec");
  expect((await run("inspect")).code).toBe(0);
  expect(given.at(-1)).toContain("mode inspect does not allow agent.spawn");
  expect(existsSync(join(project.root, "made.txt"))).toBe(false);
});
