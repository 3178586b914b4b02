import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { accountAt } from "./scripted-account.ts";

const git = ({ root: cwd, env }: FixtureProject, ...args: string[]) =>
  execFileSync("git", args, { cwd, env, encoding: "utf8" }).trim();

/** Runs lines in order, like `octant run`, with a model that plays the script. */
async function createCommands(project: FixtureProject, script: Script, variables: NodeJS.ProcessEnv = {}) {
  const provider = await createScriptedProvider(script);
  const env = {
    ...project.env,
    ...accountAt(provider),
    ...variables,
  };
  const run = (line: string, ...flags: string[]) =>
    callOctant(["run", line, "--provider", "anthropic", "--model", "m", ...flags], {
      cwd: project.root,
      env,
    });
  return { run, provider, [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() };
}

test("/commit proposes a message, hooks of the person's git run, and /branch, /diff, /stash and /worktree work on real git", async () => {
  using project = createFixtureProject();
  const hooks = join(project.root, ".git/hooks");
  mkdirSync(hooks, { recursive: true });
  writeFileSync(join(hooks, "commit-msg"), '#!/bin/sh\nprintf "\\nChecked: yes\\n" >> "$1"\n');
  chmodSync(join(hooks, "commit-msg"), 0o755);
  await using commands = await createCommands(project, () => ({
    parts: [{ text: "fix(demo): answer is 42" }],
  }));

  const diff = await commands.run("/diff");
  expect(diff.stdout).toContain("+export const answer = 42;");
  const branched = await commands.run("/branch topic");
  expect(branched).toMatchObject({ code: 0, stdout: "made and switched to `topic`\n" });
  const committed = await commands.run("/commit");
  expect(committed, committed.stderr).toMatchObject({ code: 0 });
  expect(git(project, "log", "-1", "--format=%s|%b")).toBe("fix(demo): answer is 42|Checked: yes");
  expect(commands.provider.requests[0]?.user).toContain("answer = 42");

  writeFileSync(join(project.root, "aside.txt"), "x\n");
  expect((await commands.run("/stash")).code).toBe(0);
  expect(existsSync(join(project.root, "aside.txt"))).toBe(false);
  expect((await commands.run("/stash pop")).code).toBe(0);
  expect(existsSync(join(project.root, "aside.txt"))).toBe(true);
  const tree = await commands.run("/worktree side");
  expect(tree.stdout).toContain("on branch `side`");
  expect(existsSync(`${project.root}-side/README.md`)).toBe(true);
});

test("/commit-push-pr in a repository with master: refuses on master, and a pull request goes to master", async () => {
  using project = createFixtureProject();
  const remote = resolve(project.root, "../remote.git");
  execFileSync("git", ["init", "--quiet", "--bare", remote]);
  git(project, "branch", "--move", "master");
  git(project, "remote", "add", "origin", remote);
  git(project, "push", "--quiet", "origin", "master");
  const bin = join(project.root, "../bin");
  mkdirSync(bin);
  const told = join(project.root, "../gh.txt");
  writeFileSync(join(bin, "gh"), `#!/bin/sh\necho "$@" > ${told}; echo https://example.org/pr/1\n`, {
    mode: 0o755,
  });
  await using commands = await createCommands(project, () => ({ parts: [{ text: "feat: x" }] }), {
    PATH: `${bin}:${process.env["PATH"]}`,
  });
  expect((await commands.run("/commit-push-pr")).stdout).toContain("you are on `master`");
  git(project, "switch", "--quiet", "--create", "topic");
  const opened = await commands.run("/commit-push-pr feat: x");
  expect(opened, opened.stderr).toMatchObject({ code: 0 });
  expect(readFileSync(told, "utf8")).toContain("--base master --head topic");
});

test("/commit-push-pr pushes to a bare remote and opens a pull request with gh, and says what to do without it", async () => {
  using project = createFixtureProject();
  const remote = resolve(project.root, "../remote.git");
  execFileSync("git", ["init", "--quiet", "--bare", remote]);
  git(project, "remote", "add", "origin", remote);
  git(project, "push", "--quiet", "origin", "main");
  git(project, "switch", "--quiet", "--create", "topic");
  await using without = await createCommands(project, () => ({ parts: [{ text: "feat: x" }] }));
  const refused = await without.run("/commit-push-pr");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("gh was not found on your PATH; install the GitHub CLI");
  // Nothing was committed or pushed in vain.
  expect(git(project, "log", "-1", "--format=%s")).toBe("Go on");

  const bin = join(project.root, "../bin");
  mkdirSync(bin);
  const told = join(project.root, "../gh.txt");
  writeFileSync(
    join(bin, "gh"),
    `#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "$@" > ${told}; cat >> ${told}; echo https://example.org/pr/1\n`,
  );
  chmodSync(join(bin, "gh"), 0o755);
  await using commands = await createCommands(project, () => ({ parts: [{ text: "feat: x" }] }), {
    PATH: `${bin}:${process.env["PATH"]}`,
  });
  // The message names the pull request, also when the branch has earlier commits.
  git(project, "commit", "--quiet", "--allow-empty", "--message=chore: earlier");
  const opened = await commands.run("/commit-push-pr feat: the answer");
  expect(opened, opened.stderr).toMatchObject({
    code: 0,
    stdout: `pull request: https://example.org/pr/1\npushed to ${remote}\n`,
  });
  expect(
    execFileSync("git", ["--git-dir", remote, "log", "-1", "--format=%s", "topic"], { encoding: "utf8" }),
  ).toBe("feat: the answer\n");
  expect(readFileSync(told, "utf8")).toBe(
    "pr create --base main --head topic --title feat: the answer --body-file -\n- chore: earlier\n- feat: the answer",
  );
});

test("project commands apply when trusted, /help lists all, and an unknown one is reported", async () => {
  using project = createFixtureProject();
  mkdirSync(join(project.root, ".hanzo/commands"), { recursive: true });
  writeFileSync(
    join(project.root, ".hanzo/commands/greet.md"),
    "---\ndescription: Greet\n---\nGreet $ARGUMENTS.\n",
  );
  await using commands = await createCommands(project, ({ user }) => ({
    parts: [{ text: `said: ${user}` }],
  }));
  const untrusted = await commands.run("/greet Ada");
  expect(untrusted).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("UNTRUSTED_CONFIG: /greet is a command of this project"),
  });
  expect((await commands.run("/great")).stderr).toContain("there is no command /great");
  expect((await commands.run("/vim")).stderr).toContain("there is no command /vim; the setting input_mode");
  expect((await commands.run("/stats")).stdout).toContain("tokens");
  expect((await commands.run("/context")).stdout).toContain("nothing was sent yet; the window of ");
  expect((await commands.run("/plan")).stderr).toContain("/mode plan");
  const { code } = await callOctant(["trust", "--yes"], { cwd: project.root, env: project.env });
  expect(code).toBe(0);
  expect((await commands.run("/greet Ada")).stdout).toBe("said: Greet Ada.\n");
  const help = (await commands.run("/help")).stdout;
  for (const name of "branch commit commit-push-pr worktree diff stash plan solve code auto undo redo rewind resume fork compact model permissions mode agents mcp jobs cost export init review help clear login quit greet".split(
    " ",
  ))
    expect(help).toContain(`\`/${name}`);
});

test("/auto passes each stage's output on and repeats while the check fails; roles have only their permissions", async () => {
  using project = createFixtureProject();
  let checks = 0;
  const seen: string[] = [];
  await using commands = await createCommands(project, (request) => {
    const role = /# Role\nYou (plan|find causes|carry out)/.exec(request.system)?.[1] ?? "";
    if (request.answers === 0) seen.push(`${role}: ${request.user}`);
    if (role === "plan") {
      expect(request.tools).toEqual([]);
      return { parts: [{ text: "1. write out.txt" }] };
    }
    if (role === "carry out") {
      if (request.answers === 0)
        return { parts: [{ call: "proc", input: { action: "exec", command: `echo ${checks} > out.txt` } }] };
      return { parts: [{ text: "wrote it" }] };
    }
    if (request.answers === 0)
      return { parts: [{ call: "fs", input: { action: "write", uri: "bad.txt", content: "x" } }] };
    expect(request.results[0]?.text).toContain("PERMISSION_DENIED");
    checks += 1;
    return { parts: [{ text: checks === 1 ? "FAIL: it says 0" : "PASS" }] };
  });
  const done = await commands.run("/auto write a number", "--allow", "*");
  expect(done, done.stderr).toMatchObject({ code: 0 });
  expect(done.stdout).toContain("passed in round 2");
  expect(readFileSync(join(project.root, "out.txt"), "utf8")).toBe("1\n");
  expect(existsSync(join(project.root, "bad.txt"))).toBe(false);
  expect(seen[1]).toContain("The plan:\n1. write out.txt");
  expect(seen[3]).toContain("The last attempt did not pass:\nFAIL: it says 0");
});
