import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createScriptedProvider, type ScriptedRequest, type ScriptedTurn } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { startSession } from "./mcp-session.ts";
import { callOctant } from "./octant-in-process.ts";
import { accountAt } from "./scripted-account.ts";

const git = ({ root: cwd, env }: FixtureProject, ...args: string[]) =>
  execFileSync("git", args, { cwd, env, encoding: "utf8" }).trim();

const shell = (command: string): ScriptedTurn => ({
  parts: [{ call: "proc", input: { action: "exec", command } }],
});

/** A sub-agent's task says what it does: a command after "run:", otherwise it answers with the task. */
const byTask = ({ user, answers, results }: ScriptedRequest): ScriptedTurn => {
  const command = /run: (.*)/.exec(user)?.[1];
  if (command !== undefined && answers === 0) return shell(command);
  return {
    parts: [{ text: `report on ${user.split("\n")[0]}: ${results[0]?.text.split("\n")[0] ?? "nothing"}` }],
  };
};

async function openCrew(project: FixtureProject, script = byTask, tools = "agent,fs,proc,job") {
  const provider = await createScriptedProvider(script);
  const session = await startSession(["--tools", tools], {
    cwd: project.root,
    env: {
      ...project.env,
      ...accountAt(provider),
      HANZO_MODEL: "m",
      OCTANT_PROVIDER: "anthropic",
    },
  });
  const agent = async (action: string, input: object = {}) => {
    const answer = await session.call("agent", { action, ...input });
    const { job_id } = answer.meta;
    if (job_id === undefined) return answer;
    const polled = await session.call("job", { action: "poll", job_id, wait: 50_000 });
    // The job's result is the envelope of the call.
    const { result } = polled.data as { result: typeof answer };
    return result;
  };
  return {
    session,
    agent,
    provider,
    async [Symbol.asyncDispose]() {
      await session[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

type Info = {
  agent_id: string;
  state: string;
  report: string;
  worktree?: { merged: boolean; conflicts: string[]; branch: string };
};

test("over MCP five sub-agents explore in parallel, code, review, and fix in a worktree that is merged", async () => {
  using project = createFixtureProject();
  git(project, "commit", "--quiet", "--all", "--message=Ready");
  await using crew = await openCrew(project);
  const spawn = async (input: object) => (await crew.agent("spawn", input)).data as unknown as Info;
  const first = await spawn({ role: "explore", task: "a", background: true });
  const second = await spawn({ role: "explore", task: "b", background: true });
  const both = await crew.agent("await", { agent_ids: [first.agent_id, second.agent_id] });
  expect(both.data).toMatchObject({
    agents: [{ state: "done", report: "report on a: nothing" }, { state: "done" }],
  });
  expect(await spawn({ role: "code", task: "make it\nrun: echo one > one.txt" })).toMatchObject({
    state: "done",
  });
  git(project, "add", "--all");
  git(project, "commit", "--quiet", "--message=One");
  const review = await spawn({ role: "review", task: "look\nrun: echo evil > evil.txt" });
  expect(review.report).toContain("PERMISSION_DENIED");
  const fix = await spawn({
    role: "code",
    task: "fix it\nrun: echo fixed > one.txt; echo two > two.txt",
    worktree: true,
  });
  expect(fix, JSON.stringify(fix)).toMatchObject({
    state: "done",
    worktree: { merged: true, conflicts: [] },
  });
  expect(readFileSync(join(project.root, "one.txt"), "utf8")).toBe("fixed\n");
  expect(readFileSync(join(project.root, "two.txt"), "utf8")).toBe("two\n");
  expect(existsSync(join(project.root, "evil.txt"))).toBe(false);
  expect(git(project, "log", "-1", "--format=%P").split(" ")).toHaveLength(2);
  // Calls in a worktree are in the project's audit log too.
  const { stdout: audited } = await callOctant(["audit", "--json"], { cwd: project.root, env: project.env });
  const records = audited
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const commands = records.filter(({ kind, action }) => kind === "call" && action === "proc.exec");
  expect(commands.map(({ code }) => code)).toEqual(["OK", "PERMISSION_DENIED", "OK"]);
  const verified = await callOctant(["audit", "verify"], { cwd: project.root, env: project.env });
  expect(verified.stdout).toMatch(/^whole: /);

  // The same lines on both sides: nothing is merged, and the paths are data.
  writeFileSync(join(project.root, "one.txt"), "theirs\n");
  const slow = await spawn({
    role: "code",
    task: "clash\nrun: echo ours > one.txt",
    worktree: true,
    background: true,
  });
  git(project, "commit", "--quiet", "--all", "--message=Theirs");
  const [clash] = ((await crew.agent("await", { agent_ids: [slow.agent_id] })).data as { agents: Info[] })
    .agents;
  expect(clash?.worktree).toMatchObject({ merged: false, conflicts: ["one.txt"] });
  expect(git(project, "status", "--porcelain")).toBe("");
  expect(git(project, "branch", "--list", clash?.worktree?.branch ?? "")).not.toBe("");

  // Uncommitted changes are never merged over.
  writeFileSync(join(project.root, "two.txt"), "uncommitted\n");
  const late = await spawn({ role: "code", task: "late\nrun: echo late > two.txt", worktree: true });
  expect(late.worktree).toMatchObject({
    merged: false,
    conflicts: ["two.txt"],
    note: expect.stringContaining("commit or stash them, then: git merge octant/agent_"),
  });
  expect(readFileSync(join(project.root, "two.txt"), "utf8")).toBe("uncommitted\n");
});

test("sub-agents end with their parent, an unknown handle is refused, and roles are listed", async () => {
  using project = createFixtureProject();
  const started = join(project.root, "started");
  const crew = await openCrew(project);
  try {
    const listed = (await crew.agent("list")).data as { roles: { name: string }[] };
    expect(listed.roles.map(({ name }) => name)).toEqual([
      "plan",
      "solve",
      "code",
      "auto",
      "review",
      "explore",
    ]);
    expect(await crew.agent("terminate", { agent_id: "agent_0" })).toMatchObject({
      error: { code: "NOT_FOUND" },
    });
    expect(await crew.agent("spawn", { role: "chef", task: "cook" })).toMatchObject({
      error: { code: "NOT_FOUND" },
    });
    const one = await crew.agent("spawn", {
      role: "code",
      task: "wait\nrun: touch started; sleep 1000",
      background: true,
      worktree: false,
    });
    await expect.poll(() => existsSync(started)).toBe(true);
    const { agent_id } = one.data as unknown as Info;
    const ended = await crew.agent("terminate", { agent_id });
    expect(ended.data).toMatchObject({ state: "terminated" });
    await crew.agent("spawn", { role: "code", task: "wait\nrun: sleep 1001", background: true });
  } finally {
    await crew[Symbol.asyncDispose]();
  }
  const running = readdirSync("/proc").flatMap((pid) => {
    try {
      return [readFileSync(`/proc/${pid}/cmdline`, "utf8")];
    } catch {
      return [];
    }
  });
  expect(running.filter((line) => /sleep\0?\s?100[01](?!\d)/.test(line))).toEqual([]);
});

test("custom roles apply when trusted with exactly this content", async () => {
  using project = createFixtureProject();
  const file = join(project.root, ".hanzo/agents/scribe.md");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "---\nsummary: Writes\naccess: write\ntools: fs\n---\nYou are the scribe.\n");
  const rolesOf = async () => {
    const args = ["call", "agent.list", "--tools", "agent", "--json"];
    const { stdout } = await callOctant(args, { cwd: project.root, env: project.env });
    return JSON.parse(stdout).data.roles.map(({ name }: { name: string }) => name);
  };
  expect(await rolesOf()).not.toContain("scribe");
  await callOctant(["trust", "--yes"], { cwd: project.root, env: project.env });
  {
    await using crew = await openCrew(project);
    const done = (await crew.agent("spawn", { role: "scribe", task: "write\nrun: echo x > made.txt" }))
      .data as unknown as Info;
    // Its role has no proc.
    expect(done.report).toContain("PERMISSION_DENIED");
    expect(crew.provider.requests[0]?.system).toContain("You are the scribe.");
  }
  writeFileSync(file, "---\naccess: write\n---\nYou do as I say.\n");
  expect(await rolesOf()).not.toContain("scribe");
});

const sleepers = () =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /sleep\0?\s?1002(?!\d)/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8"));
    } catch {
      return false;
    }
  });

const worktreesOf = (project: FixtureProject) =>
  [...git(project, "worktree", "list", "--porcelain").matchAll(/^worktree (.*)$/gm)].map(
    ([, folder = ""]) => folder,
  );
const foldersWith = (project: FixtureProject, name: string) =>
  worktreesOf(project).filter((folder) => existsSync(join(folder, name)));

test("killing the parent with kill -9 leaves no process and no lock, and the next session keeps only unmerged work", async () => {
  using project = createFixtureProject();
  git(project, "commit", "--quiet", "--all", "--message=Ready");
  const crew = await openCrew(project);
  const spawn = async (task: string) => {
    const started = await crew.agent("spawn", { role: "code", task, background: true, worktree: true });
    return (started.data as unknown as Info).agent_id;
  };
  await spawn("wait\nrun: sleep 1002");
  const writer = await spawn("write\nrun: echo draft > draft.txt; sleep 1002");
  await expect.poll(() => foldersWith(project, "draft.txt"), { timeout: 40_000 }).toHaveLength(1);
  await crew.session.kill("SIGKILL");
  await expect.poll(() => sleepers(), { timeout: 40_000 }).toEqual([]);
  await crew.provider[Symbol.asyncDispose]();
  expect(git(project, "worktree", "list", "--porcelain")).not.toContain("locked");
  git(project, "commit", "--quiet", "--allow-empty", "--message=Still works");

  await using next = await openCrew(project);
  const branch = `octant/${writer}`;
  expect((await next.agent("list")).data).toMatchObject({
    left: [expect.stringContaining(`git merge ${branch}`)],
  });
  expect(worktreesOf(project)).toEqual([project.root]);
  expect(git(project, "branch", "--list", "octant/*", "--format=%(refname:short)")).toBe(branch);
  expect(git(project, "show", `${branch}:draft.txt`)).toBe("draft");
  git(project, "merge", "--quiet", branch);
  expect((await next.agent("list")).data).not.toHaveProperty("left");
  expect(git(project, "branch", "--list", "octant/*")).toBe("");
});

test("a sub-agent's own commits are merged, and the work of a terminated one stays on its branch", async () => {
  using project = createFixtureProject();
  git(project, "commit", "--quiet", "--all", "--message=Ready");
  await using crew = await openCrew(
    project,
    (request) => {
      if (!request.user.startsWith("commit")) return byTask(request);
      if (request.answers === 0)
        return { parts: [{ call: "fs", input: { action: "write", uri: "own.txt", content: "own\n" } }] };
      if (request.answers === 1)
        return { parts: [{ call: "vcs", input: { action: "commit", message: "Own", files: ["own.txt"] } }] };
      return { parts: [{ text: request.results[0]?.text ?? "" }] };
    },
    "agent,core",
  );
  const own = await crew.agent("spawn", { role: "code", task: "commit", worktree: true });
  expect(own.data, JSON.stringify(own)).toMatchObject({ worktree: { merged: true, conflicts: [] } });
  expect(readFileSync(join(project.root, "own.txt"), "utf8")).toBe("own\n");
  const started = await crew.agent("spawn", {
    role: "code",
    task: "x\nrun: echo half > half.txt; sleep 1002",
    background: true,
    worktree: true,
  });
  const { agent_id } = started.data as unknown as Info;
  await expect.poll(() => foldersWith(project, "half.txt"), { timeout: 40_000 }).toHaveLength(1);
  expect((await crew.agent("terminate", { agent_id })).data).toMatchObject({
    state: "terminated",
    worktree: { merged: false, conflicts: [], note: expect.stringContaining("did not finish; git merge") },
  });
  expect(git(project, "show", `octant/${agent_id}:half.txt`)).toBe("half");
  expect(existsSync(join(project.root, "half.txt"))).toBe(false);
});
