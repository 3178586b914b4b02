import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "../fixture-project.ts";
import { openSlashSession } from "../slash-session.ts";

/** Every command that runs git for the person. */
const LINES = [
  "/diff",
  "/branch",
  "/branch other",
  "/worktree",
  "/worktree side",
  "/stash",
  "/stash list",
  "/stash pop",
];
const COMMITS = ["/commit fix: a", "/commit-push-pr fix: b"];

let project: FixtureProject;
let outside: string;
/** A program that leaves a trace where no sandboxed command can. */
let canary: string;
const trace = () => join(outside, "ran");
const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, env: project.env, encoding: "utf8" }).trim();

beforeEach(() => {
  project = createFixtureProject();
  outside = mkdtempSync(join(tmpdir(), "octant-outside-"));
  canary = join(outside, "canary");
  writeFileSync(canary, `#!/bin/sh\necho "$0" >> ${trace()}\ncat 2>/dev/null\nexit 0\n`);
  chmodSync(canary, 0o755);
});
afterEach(() => {
  project[Symbol.dispose]();
  rmSync(`${project.root}-side`, { recursive: true, force: true });
  rmSync(outside, { recursive: true });
});

async function runAll(lines: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<string[]> {
  await using session = await openSlashSession(project, () => ({ parts: [{ text: "fix: x" }] }), variables);
  const shown: string[] = [];
  for (const line of lines) {
    writeFileSync(join(project.root, "src/main.ts"), `// ${line}\n`);
    shown.push(await session.run(line).catch((cause: Error) => cause.message));
  }
  return shown;
}

/** A repository inside the project, tracked as a gitlink, whose own config starts a program. */
function plantGitlink(key: string, attributes = ""): void {
  const inner = join(project.root, "inner");
  mkdirSync(inner);
  git(inner, "init", "--quiet");
  writeFileSync(join(inner, "file"), "x\n");
  git(inner, "add", "file");
  git(inner, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "--message=inner");
  git(project.root, "add", "inner");
  writeFileSync(
    join(project.root, ".gitmodules"),
    '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n\tignore = none\n',
  );
  git(project.root, "add", ".gitmodules");
  git(project.root, "commit", "--quiet", "--message=with a submodule");
  git(inner, "config", key, canary);
  writeFileSync(join(inner, ".gitattributes"), attributes);
  // As long as before, so that only its content can tell whether it changed.
  writeFileSync(join(inner, "file"), "y\n");
}

const NESTED = [
  ["core.fsmonitor", ""],
  ["filter.evil.clean", "* filter=evil\n"],
] as const;

describe.each(NESTED)("a nested repository with %s", (key, attributes) => {
  test("runs nothing outside the sandbox for any command of the person", async () => {
    plantGitlink(key, attributes);
    git(project.root, "status");
    // Plain git does run it, so the trap works.
    expect(existsSync(trace())).toBe(true);
    rmSync(trace());
    await runAll([...LINES, ...COMMITS, "/diff HEAD~1"]);
    expect(existsSync(trace())).toBe(false);
    expect(git(project.root, "log", "-1", "--format=%s")).toBe("fix: a");
  });
});

const SETTINGS = [
  ...["core.fsmonitor", "core.pager", "core.sshCommand", "core.askPass", "core.editor", "sequence.editor"],
  ...["diff.external", "credential.helper", "gpg.program", "filter.evil.clean", "filter.evil.smudge"],
  ...[
    "filter.evil.process",
    "diff.evil.command",
    "diff.evil.textconv",
    "merge.evil.driver",
    "remote.origin.receivepack",
  ],
  ...["core.alternateRefsCommand", "pager.log", "pager.diff", "pager.branch", "hook.evil.command"],
];

test("the settings of a freshly opened repository start nothing outside, and the answer says which were left out", async () => {
  const remote = join(outside, "remote.git");
  execFileSync("git", ["init", "--quiet", "--bare", remote]);
  git(project.root, "remote", "add", "origin", remote);
  git(project.root, "push", "--quiet", "origin", "main");
  for (const key of SETTINGS) git(project.root, "config", key, canary);
  git(project.root, "config", "commit.gpgSign", "false");
  git(project.root, "config", "hook.evil.event", "pre-commit");
  writeFileSync(join(project.root, ".gitattributes"), "* filter=evil diff=evil merge=evil\n");
  const bin = join(outside, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "gh"), "#!/bin/sh\ngit status > /dev/null 2>&1\necho https://example.org/pr/1\n");
  chmodSync(join(bin, "gh"), 0o755);
  const shown = await runAll([...LINES, ...COMMITS], { PATH: `${bin}:${process.env["PATH"]}` });
  expect(existsSync(trace())).toBe(false);
  expect(shown.at(-1)).toContain("pull request: https://example.org/pr/1");
  expect(shown.at(-2)).toContain("settings of this repository that were not used: ");
  for (const key of ["core.fsmonitor", "filter.evil.clean", "core.sshcommand"])
    expect(shown.at(-2)).toContain(`\`${key}\``);
});

test("a remote that runs a program, or a repository in the project, is not pushed to", async () => {
  const bin = join(outside, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "gh"), "#!/bin/sh\nexit 0\n");
  chmodSync(join(bin, "gh"), 0o755);
  const PATH = `${bin}:${process.env["PATH"]}`;
  git(project.root, "switch", "--quiet", "--create", "topic");
  git(project.root, "remote", "add", "origin", `ext::${canary}`);
  git(project.root, "config", "protocol.ext.allow", "always");
  const before = git(project.root, "rev-parse", "HEAD");
  expect((await runAll(["/commit-push-pr fix: a"], { PATH }))[0]).toContain("no branch of origin");
  expect(git(project.root, "rev-parse", "HEAD")).toBe(before);
  git(project.root, "update-ref", "refs/remotes/origin/main", "HEAD");
  const [byProgram] = await runAll(["/commit-push-pr fix: a"], { PATH });
  expect(byProgram).toContain("transport 'ext' not allowed");
  const planted = join(project.root, "planted.git");
  execFileSync("git", ["init", "--quiet", "--bare", planted]);
  mkdirSync(join(planted, "hooks"), { recursive: true });
  execFileSync("cp", [canary, join(planted, "hooks/pre-receive")]);
  for (const url of ["planted.git", planted, `file://${planted}`]) {
    git(project.root, "remote", "set-url", "origin", url);
    expect((await runAll(["/commit-push-pr fix: b"], { PATH }))[0]).toContain("inside the workspace");
  }
  expect(existsSync(trace())).toBe(false);
});

describe("hooks", () => {
  const plant = (folder: string, name = "pre-commit") => {
    mkdirSync(join(project.root, folder), { recursive: true });
    execFileSync("cp", [canary, join(project.root, folder, name)]);
  };

  test("one that was there before the session runs, and the answer says so", async () => {
    plant(".git/hooks");
    expect((await runAll(["/commit fix: a"]))[0]).toContain(
      "hooks of yours that ran outside the sandbox: `pre-commit`",
    );
    expect(existsSync(trace())).toBe(true);
  });

  test.each([
    ["new", () => {}, () => plant(".git/hooks")],
    [
      "changed",
      () => plant(".git/hooks"),
      () => writeFileSync(join(project.root, ".git/hooks/pre-commit"), `#!/bin/sh\n${canary}\n`),
    ],
    [
      "in a folder that appeared in the config",
      () => {},
      () => {
        plant("tools");
        git(project.root, "config", "core.hooksPath", "tools");
      },
    ],
    [
      "in the working tree",
      () => {
        plant(".husky/_");
        git(project.root, "config", "core.hooksPath", ".husky/_");
      },
      () => {},
    ],
  ])("one that is %s does not run, and the answer says so", async (_, before, during) => {
    before();
    await using session = await openSlashSession(project, () => ({ parts: [{ text: "fix: x" }] }));
    during();
    const shown = await session.run("/commit fix: a");
    expect(shown).toContain(
      "hooks that did not run, because they are new, changed, or files that commands can change: `pre-commit`",
    );
    expect(existsSync(trace())).toBe(false);
    expect(git(project.root, "log", "-1", "--format=%s")).toBe("fix: a");
  });
});

test("a config that includes a file of the project is refused, since a command could change it in between", async () => {
  writeFileSync(join(project.root, "more"), "");
  git(project.root, "config", "include.path", "../more");
  expect((await runAll(["/commit fix: a"]))[0]).toContain("which commands can change");
});

test("code of a nested repository that vcs.commit runs into can change neither hooks nor config", async () => {
  plantGitlink("filter.evil.clean", "* filter=evil\n");
  const evil = join(project.root, "evil");
  const hooks = join(project.root, ".git/hooks");
  const add = (file: string) => `echo x >> ${project.root}/${file}`;
  writeFileSync(
    evil,
    `#!/bin/sh\n${[".git/hooks/post-commit", ".git/config", "seen"].map(add).join("\n")}\ncat\n`,
  );
  chmodSync(evil, 0o755);
  git(join(project.root, "inner"), "config", "filter.evil.clean", evil);
  const config = readFileSync(join(project.root, ".git/config"), "utf8");
  await using session = await openSlashSession(project, () => ({ parts: [{ text: "x" }] }));
  const { octant } = session.opened;
  const call = { tool: "vcs", action: "commit", input: { message: "fix: a", files: ["."] } };
  const { envelope } = await octant.dispatch(call, {
    caller: { id: "me", access: "admin" },
    ask: async () => ({ answer: "once" }),
  });
  expect(envelope).toMatchObject({ ok: true });
  // It did run, in the sandbox.
  expect(existsSync(join(project.root, "seen"))).toBe(true);
  expect(existsSync(join(hooks, "post-commit"))).toBe(false);
  expect(readFileSync(join(project.root, ".git/config"), "utf8")).toBe(config);
});
