import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { processesWith } from "../../testing/sandbox/processes-with.ts";
import { createConfinement } from "../confinement.ts";
import { pathToUri } from "../path.ts";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { DEFAULT_SANDBOX, type SandboxSettings } from "../sandbox/settings.ts";
import { openStateFolder } from "../state.ts";
import { createGit, type Git } from "./git.ts";
import { readStatus } from "./status.ts";

let base: string;
let root: string;
let home: string;
let opened: Sandbox[];
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-git-")));
  [root, home] = [join(base, "root"), join(base, "home")];
  for (const folder of [root, home]) mkdirSync(folder);
  write(
    "home/.gitconfig",
    "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n",
  );
  opened = [];
});
afterEach(async () => {
  for (const sandbox of opened) await sandbox.close();
  rmSync(base, { recursive: true });
});

function write(path: string, text: string, mode?: number): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text, { mode });
}

const git = (folder: string, ...args: string[]) =>
  execFileSync("git", args, {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: home },
    encoding: "utf8",
  });

/** `program` precedes git on the PATH. */
function open(settings: Partial<SandboxSettings> = {}, program?: string): Git & { sandbox: Sandbox } {
  if (program !== undefined) write("bin/git", `#!/bin/sh\n${program}\n`, 0o755);
  const env = {
    PATH: `${join(base, "bin")}:${process.env["PATH"]}`,
    HOME: home,
    XDG_STATE_HOME: join(base, "state"),
  };
  const state = openStateFolder({ roots: [root], env, warn: () => {} });
  const sandbox = createSandbox({ roots: [root], settings: { ...DEFAULT_SANDBOX, ...settings }, env, state });
  opened.push(sandbox);
  return { ...createGit({ confinement: createConfinement([root]), env, sandbox }), sandbox };
}

/** Explores instead of doing its work. */
const LOOKS = `case $2 in version) echo git version 2.40.0; exit;; config) exit;; esac
readlink /proc/self/ns/net; readlink /proc/self/ns/pid; cat "$HOME/.git-credentials" "$HOME/.ssh/id"
true >planted || exit 0`;

test("read-only commands run in the sandbox: no network, no keys, nothing writable", async () => {
  git(root, "init", "--quiet");
  write("home/.git-credentials", "https://ada:secret@example.org\n");
  write("home/.ssh/id", "secret\n");
  const repository = open({}, LOOKS).open();
  for (const args of [["status"], ["log"], ["diff"], ["cat-file", "--batch"], ["blame", "a"]]) {
    const { stdout } = await repository.run(args);
    const [net, pid, ...more] = stdout.toString().trim().split("\n");
    expect([net, pid]).toEqual([expect.stringMatching(/^net:/), expect.stringMatching(/^pid:/)]);
    expect(net).not.toBe(readlinkSync("/proc/self/ns/net"));
    expect(pid).not.toBe(readlinkSync("/proc/self/ns/pid"));
    expect(more).toEqual([]);
  }
  expect(existsSync(join(root, "planted"))).toBe(false);
});

test("with the sandbox disabled git runs directly", async () => {
  git(root, "init", "--quiet");
  const { stdout } = await open({ mode: "off" }, LOOKS).open().run(["status"]);
  expect(stdout.toString()).toContain(readlinkSync("/proc/self/ns/net"));
});

test.skipIf(inject("missing").includes("bubblewrap"))(
  "where commands are allowed little, git still reads the workspace",
  async () => {
    git(root, "init", "--quiet");
    write("root/a.txt", "a\n");
    const { entries } = await readStatus(open({ mode: "allowlist", allowed_paths: ["elsewhere"] }).open());
    expect(entries).toHaveLength(1);
  },
);

test("a cancelled call, or one with too much output, ends git and all its child processes", async () => {
  git(root, "init", "--quiet");
  const seconds = `600.${process.pid}`;
  const controller = new AbortController();
  const repository = open(
    {},
    `case $2 in version) echo git version 2.40.0;; config) ;; log) yes;; *) sleep ${seconds};; esac`,
  ).open(undefined, controller.signal);
  await expect(repository.run(["log"], { maxBytes: 100_000 })).rejects.toMatchObject({ code: "TOO_LARGE" });
  const running = repository.run(["status"]);
  await expect.poll(() => processesWith(`sleep ${seconds}`)).toHaveLength(1);
  controller.abort();
  await expect(running).rejects.toThrow("abort");
  expect(processesWith(`sleep ${seconds}`)).toEqual([]);
});

test("a repository created later, and a worktree of one elsewhere, are read and written", async () => {
  const opener = open();
  expect(() => opener.open()).toThrow("git");
  git(root, "init", "--quiet");
  write("root/a.txt", "a\n");
  expect((await readStatus(opener.open())).entries).toHaveLength(1);

  const main = join(base, "elsewhere");
  mkdirSync(main);
  git(main, "init", "--quiet");
  git(main, "commit", "--quiet", "--allow-empty", "--message=first");
  git(main, "worktree", "add", "--quiet", join(root, "linked"));
  write("root/linked/b.txt", "b\n");
  const linked = opener.open(join(root, "linked"));
  expect(await readStatus(linked)).toMatchObject({ branch: "linked", entries: [{}] });
  await linked.run(["add", "b.txt"]);
  await linked.run(["commit", "--quiet", "--message=inside"]);
  expect(git(main, "log", "--format=%s", "linked")).toBe("inside\nfirst\n");
  expect((await readStatus(opener.open())).entries).toHaveLength(2);
});

test("the person's own settings count, wherever they are, also when they change", async () => {
  write("home/.gitconfig", "[include]\n\tpath = .dotfiles/git/work\n");
  write(
    "home/.dotfiles/git/work",
    "[user]\n\tname = W\n\temail = w@example.org\n[core]\n\texcludesFile = ~/.dotfiles/ignored\n",
  );
  write("home/.dotfiles/ignored", "*.log\n");
  git(root, "init", "--quiet");
  write("root/a.log", "a\n");
  write("root/b.tmp", "b\n");
  const repository = open().open();
  const names = async () =>
    (await readStatus(repository)).entries.map(({ uri }) => uri.slice(pathToUri(root).length + 1));
  expect(await names()).toEqual(["b.tmp"]);
  write("home/.dotfiles/ignored", "*.log\n*.tmp\n");
  expect(await names()).toEqual([]);
  await repository.run(["commit", "--quiet", "--allow-empty", "--message=x"]);
  expect(git(root, "log", "--format=%ae")).toBe("w@example.org\n");
});

test("git does not use files that a command writes into its home", async () => {
  git(root, "init", "--quiet");
  write("root/a.txt", "a\n");
  write("root/.gitattributes", "* filter=x\n");
  const { sandbox, ...opener } = open();
  const repository = opener.open();
  await repository.run(["add", "a.txt"]);
  const canary = join(root, "canary");
  const plant = `git config --global filter.x.clean 'touch ${canary}; cat' && git config --global core.fsmonitor 'touch ${canary}'`;
  const env = { PATH: process.env["PATH"] ?? "", HOME: home };
  const { argv, ...launched } = await sandbox.wrap({
    argv: ["/bin/sh", "-c", plant],
    folder: root,
    env,
    pty: false,
  });
  execFileSync(argv[0], argv.slice(1), { env: launched.env, cwd: launched.folder });
  write("root/a.txt", "changed\n");
  await repository.run(["add", "a.txt"]);
  await readStatus(repository);
  await repository.run(["commit", "--quiet", "--message=x"]);
  expect(existsSync(canary)).toBe(false);
});
