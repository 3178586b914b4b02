import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createScriptedProvider, type ScriptedTurn } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { startSession } from "./mcp-session.ts";
import { runOctant } from "./octant-process.ts";

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
  ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
  ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
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
      runOctant(["run", ...args, "--tools", "agent,core"], {
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
