import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createConfinement } from "../confinement.ts";
import { pathOutsideProjects } from "../programs/trusted-program.ts";
import type { SandboxedCommand } from "../sandbox/sandbox.ts";
import { vcsError } from "./failure.ts";
import { createGit } from "./git.ts";

let base: string;
let root: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-git-")));
  root = join(base, "root");
  mkdirSync(root);
  execFileSync("git", ["init", "--quiet"], { cwd: root });
});
afterEach(() => rmSync(base, { recursive: true }));

/** With a git that records its arguments. */
function openNoting() {
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const notes = join(base, "notes");
  writeFileSync(join(base, "git"), `#!/bin/sh\necho "$2" >> '${notes}'\nexec ${real} "$@"\n`, {
    mode: 0o755,
  });
  const env = { ...process.env, PATH: `${base}:${process.env["PATH"]}` };
  const git = createGit({ confinement: createConfinement([root]), env });
  return async () => {
    writeFileSync(notes, "");
    await git.open().run(["status"]);
    return readFileSync(notes, "utf8").trim().split("\n");
  };
}

test("everything runs in the sandbox, without network and without the server's secrets", async () => {
  const commands: SandboxedCommand[] = [];
  const sandbox = {
    wrapApart: async () => undefined,
    wrap: async (command: SandboxedCommand) => {
      commands.push(command);
      return { ...command, launcher: false, release: () => [] };
    },
  };
  const env = { ...process.env, API_TOKEN: "secret" };
  const repository = createGit({ confinement: createConfinement([root]), env, sandbox }).open();
  for (const args of [["status"], ["diff"], ["branch", "--list"], ["apply", "--allow-empty"]])
    await repository.run(args);
  // The settings of a repository that is new are listed again and again.
  const names = new Set(commands.map(({ argv }) => argv[2]));
  expect([...names]).toEqual(["version", "config", "status", "diff", "branch", "apply"]);
  for (const { network, env: given } of commands) {
    expect(network).toBe("off");
    expect(Object.keys(given)).not.toContain("API_TOKEN");
  }
});

test("settings are listed once, and again when a file that they come from changes", async () => {
  const starts = openNoting();
  await expect.poll(starts).toEqual(["status"]);
  for (const path of [".git/config", ".git/config.worktree"]) {
    writeFileSync(join(root, path), "[core]\n\tbare = false\n");
    expect(await starts()).toEqual(["config", "status"]);
    await expect.poll(starts).toEqual(["status"]);
  }
});

test("an include is watched before it is there", async () => {
  const starts = openNoting();
  execFileSync("git", ["config", "include.path", "later"], { cwd: root });
  await expect.poll(starts).toEqual(["status"]);
  writeFileSync(join(root, ".git/later"), '[filter "x"]\n\tclean = false\n');
  expect(await starts()).toEqual(["config", "status"]);
});

test("programs are not searched in the workspace, nor in relative folders", () => {
  expect(pathOutsideProjects(`bin:${root}/node_modules/.bin:/usr/bin:.:`, [root])).toBe("/usr/bin");
});

test("git's messages lose hints, credentials and outside paths", () => {
  const said = "hint: try\nfatal: cannot read '/etc/x/y' for https://user:pw@example.org/r at /ws/a.txt\n";
  expect(vcsError({ roots: ["/ws"] }, 128, said).message).toBe(
    "git: cannot read '…' for https://example.org/r at /ws/a.txt",
  );
});

test("a call that is cancelled while git runs ends it", async () => {
  const opener = createGit({ confinement: createConfinement([root]), env: process.env });
  await opener.open().run(["status"]);
  const controller = new AbortController();
  const repository = opener.open(undefined, controller.signal);
  const running = repository.run(["-c", "alias.wait=!sleep 60", "wait"]);
  setImmediate(() => controller.abort());
  await expect(running).rejects.toThrow("abort");
});
