import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type OpenRepository, openRepository } from "../packages/tools/testing/vcs/open-repository.ts";

/** A way for a repository to run a program, and the git command that proves it. */
interface Vector {
  readonly name: string;
  plant(hostile: Hostile): void;
  /** Absent where only a careless wrapper would be affected. */
  readonly control?: (hostile: Hostile) => readonly string[];
  /** Vectors of one group share a repository; each still fires there under git itself. Default: one of its own. */
  readonly group?: string;
  /** The repository named in the calls. */
  readonly repo?: string;
}

interface Hostile extends OpenRepository {
  /** A program that leaves a trace when it runs. */
  readonly canary: string;
  config(key: string, value: string): void;
  /** Makes `filter=…`, `diff=…` or `merge=…` apply to the files. */
  attributes(text: string): void;
}

const filter = (key: string) => (hostile: Hostile) => {
  hostile.config(key, hostile.canary);
  hostile.attributes(`* ${key.split(".", 1)}=${key.slice(key.indexOf(".") + 1, key.lastIndexOf("."))}`);
};
const set =
  (...keys: readonly string[]) =>
  (hostile: Hostile) => {
    for (const key of keys) hostile.config(key, hostile.canary);
  };
const hook =
  (...names: readonly string[]) =>
  ({ top, canary }: Hostile) => {
    mkdirSync(join(top, ".git/hooks"), { recursive: true });
    for (const name of names) cpSync(canary, join(top, ".git/hooks", name));
  };
const run =
  (...args: string[]) =>
  () =>
    args;
const ADD = run("add", "a.txt");

const VECTORS: readonly Vector[] = [
  {
    name: "pre-commit and commit-msg hooks",
    group: "hooks",
    plant: hook("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite"),
    control: run("commit", "-qam", "x"),
  },
  {
    name: "post-checkout and reference-transaction hooks",
    group: "hooks",
    plant: hook("post-checkout", "reference-transaction", "applypatch-msg"),
    control: run("checkout", "-q", "-b", "control"),
  },
  { name: "post-index-change hook", group: "hooks", plant: hook("post-index-change"), control: ADD },
  {
    name: "hooks in a folder of the project",
    group: "clean",
    plant(hostile) {
      hostile.config("core.hooksPath", "tools");
      for (const name of ["pre-commit", "post-checkout", "reference-transaction"])
        cpSync(hostile.canary, join(hostile.top, "tools", name));
    },
    control: run("commit", "-qam", "x"),
  },
  { name: "hooks from the config", group: "hooks", plant: set("hook.evil.command") },
  { name: "fsmonitor", group: "hooks", plant: set("core.fsmonitor"), control: run("status") },
  { name: "clean filter", group: "clean", plant: filter("filter.evil.clean"), control: ADD },
  {
    name: "smudge filter",
    group: "drivers",
    plant: filter("filter.evil.smudge"),
    control: run("checkout", "-q", "HEAD", "--", "b.txt"),
  },
  { name: "process filter", plant: filter("filter.evil.process"), control: ADD },
  {
    name: "required filter",
    plant(hostile) {
      filter("filter.evil.clean")(hostile);
      hostile.config("filter.evil.required", "true");
    },
    control: ADD,
  },
  { name: "a filter whose name holds an equals sign", plant: filter("filter.a=b.c.clean"), control: ADD },
  {
    name: "a filter behind an include",
    plant(hostile) {
      hostile.config("include.path", "more");
      writeFileSync(join(hostile.top, ".git/more"), `[filter "evil"]\n\tclean = ${hostile.canary}\n`);
      hostile.attributes("* filter=evil");
    },
    control: ADD,
  },
  {
    name: "a filter behind an include for the next branch",
    plant(hostile) {
      hostile.config("includeIf.onbranch:side.path", "more");
      writeFileSync(
        join(hostile.top, ".git/more"),
        `[filter "evil"]\n\tclean = ${hostile.canary}\n\tsmudge = ${hostile.canary}\n`,
      );
      hostile.attributes("* filter=evil");
      hostile.git("symbolic-ref", "HEAD", "refs/heads/side");
    },
    control: ADD,
  },
  {
    name: "a filter in the worktree's own config",
    plant(hostile) {
      hostile.config("extensions.worktreeConfig", "true");
      writeFileSync(
        join(hostile.top, ".git/config.worktree"),
        `[filter "evil"]\n\tclean = ${hostile.canary}\n`,
      );
      hostile.attributes("* filter=evil");
    },
    control: ADD,
  },
  {
    name: "attributes outside the tree",
    plant(hostile) {
      hostile.config("filter.evil.clean", hostile.canary);
      mkdirSync(join(hostile.top, ".git/info"), { recursive: true });
      writeFileSync(join(hostile.top, ".git/info/attributes"), "* filter=evil\n");
    },
    control: ADD,
  },
  { name: "external diff", group: "hooks", plant: set("diff.external"), control: run("diff") },
  { name: "diff driver", group: "drivers", plant: filter("diff.evil.command"), control: run("diff") },
  { name: "textconv", group: "clean", plant: filter("diff.evil.textconv"), control: run("diff") },
  {
    name: "merge driver",
    group: "drivers",
    plant: filter("merge.evil.driver"),
    control: run("merge", "-q", "other"),
  },
  {
    name: "signatures",
    group: "signatures",
    plant(hostile) {
      set("gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand")(hostile);
      for (const key of ["commit.gpgSign", "tag.gpgSign", "log.showSignature"]) hostile.config(key, "true");
    },
    control: run("commit", "-qam", "x"),
  },
  {
    name: "pagers",
    group: "hooks",
    plant: set("core.pager", "pager.status", "pager.log", "pager.diff"),
  },
  {
    name: "editors",
    group: "signatures",
    plant: set("core.editor", "sequence.editor"),
    control: run("commit", "-qa"),
  },
  {
    name: "credentials and ssh",
    group: "hooks",
    plant: set(
      "credential.helper",
      "core.askPass",
      "core.sshCommand",
      "core.gitProxy",
      "core.alternateRefsCommand",
    ),
  },
  {
    name: "a promised object from a program",
    plant(hostile) {
      hostile.config("extensions.partialClone", "origin");
      hostile.config("remote.origin.promisor", "true");
      hostile.config("remote.origin.url", `ext::${hostile.canary}`);
      hostile.config("protocol.ext.allow", "always");
      hostile.config("core.repositoryFormatVersion", "1");
      const id = hostile.git("rev-parse", "HEAD:b.txt");
      rmSync(join(hostile.top, ".git/objects", id.slice(0, 2), id.slice(2)));
    },
    control: run("show", "HEAD:b.txt"),
  },
  {
    name: "a submodule with its own fsmonitor",
    plant(hostile) {
      const inner = join(hostile.top, "inner");
      mkdirSync(inner);
      const git = (...args: string[]) => execFileSync("git", args, { cwd: inner, env: hostile.env });
      git("init", "-q");
      git("commit", "-q", "--allow-empty", "-m", "inner");
      hostile.git("add", "inner");
      hostile.git("commit", "-qm", "with a submodule");
      git("config", "core.fsmonitor", hostile.canary);
      hostile.config("submodule.recurse", "true");
      hostile.config("status.submoduleSummary", "true");
      hostile.config("diff.submodule", "diff");
      hostile.config("diff.ignoreSubmodules", "none");
    },
    control: run("status"),
  },
  {
    name: "a folder that looks like a bare repository",
    plant({ top, canary }) {
      const bare = join(top, "bare");
      execFileSync("git", ["init", "-q", "--bare", bare]);
      execFileSync("git", ["config", "core.fsmonitor", canary], { cwd: bare });
      execFileSync("git", ["config", "core.bare", "false"], { cwd: bare });
      execFileSync("git", ["config", "core.worktree", bare], { cwd: bare });
    },
    control: () => ["-C", "bare", "status"],
    repo: "bare",
  },
  {
    name: "a program called git in the project",
    plant({ top, canary }) {
      mkdirSync(join(top, "node_modules/.bin"), { recursive: true });
      for (const name of ["git", "xargs"]) cpSync(canary, join(top, "node_modules/.bin", name));
    },
    control: () => [],
  },
  {
    name: "aliases and trailers",
    group: "hooks",
    plant: set("alias.status", "alias.log", "trailer.x.command", "trailer.y.cmd"),
  },
  {
    name: "a config that is not the repository's",
    plant(hostile) {
      hostile.config("core.worktree", hostile.base);
      hostile.config("core.attributesFile", join(hostile.top, "attributes"));
      hostile.config("filter.evil.clean", hostile.canary);
      hostile.write("attributes", "* filter=evil\n");
    },
    control: run("--work-tree=.", "add", "a.txt"),
  },
];

const PATCH = "diff --git a/b.txt b/b.txt\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+bb\n";

/** Every action, in an order in which each has something to do. */
const CALLS: readonly (readonly [string, object])[] = [
  ["status", {}],
  ["status", { ignored: true }],
  ["diff", {}],
  ["diff", { ref: "HEAD" }],
  ["diff", { staged: true }],
  ["diff", { ref: "other..HEAD" }],
  ["log", {}],
  ["log", { path: "a.txt", follow: true }],
  ["show", {}],
  ["show", { ref: "HEAD~1" }],
  ["show", { path: "b.txt" }],
  ["blame", { path: "a.txt" }],
  ["blame", { path: "b.txt", ref: "HEAD" }],
  ["apply", { patch: PATCH, index: true }],
  ["commit", { message: "what is staged" }],
  ["commit", { message: "named", files: ["a.txt", "new.txt"] }],
  ["commit", { message: "again", amend: true }],
  ["branch", {}],
  ["branch", { op: "create", name: "fresh" }],
  ["branch", { op: "delete", name: "fresh", force: true }],
  ["checkout", { ref: "made", create: true }],
  ["checkout", { ref: "other" }],
  ["checkout", { ref: "other", force: true }],
  ["checkout", { ref: "side", force: true }],
];

const template = openRepository();
template.git("checkout", "-q", "-b", "side");
for (const name of ["a.txt", "b.txt"]) template.write(name, `${name[0]}\n`);
template.git("add", ".");
template.git("commit", "-qm", "first");
template.git("checkout", "-q", "-b", "other");
template.write("a.txt", "other\n");
template.git("commit", "-qam", "other");
template.git("checkout", "-q", "side");
template.write("a.txt", "side\n");
template.git("commit", "-qam", "side");
template.git("checkout", "-q", "-b", "work");

/** A repository with all these vectors; each has a canary that leaves its own name when it runs. */
function openHostile(vectors: readonly Vector[]) {
  const env = { PATH: `node_modules/.bin:${process.env["PATH"]}` };
  const repository = openRepository({ env, bare: true });
  const { top, base, git } = repository;
  cpSync(template.top, top, { recursive: true });
  const trace = join(base, "fired");
  repository.write("a.txt", "changed\n");
  repository.write("new.txt", "new\n");
  const hostiles = vectors.map(({ name, plant }, n): Hostile => {
    const canary = join(top, `tools/canary-${n}`);
    repository.write(`tools/canary-${n}`, `#!/bin/sh\necho "${name}: $0 $*" >> '${trace}'\nexit 1\n`);
    chmodSync(canary, 0o755);
    const hostile = {
      ...repository,
      canary,
      config: (key: string, value: string) => void git("config", key, value),
      attributes: (text: string) => {
        const path = join(top, ".gitattributes");
        writeFileSync(path, `${text}\n.gitattributes !filter\n`, { flag: "a" });
      },
    };
    plant(hostile);
    return hostile;
  });
  rmSync(trace, { force: true });
  return { ...repository, hostiles, fired: () => (existsSync(trace) ? readFileSync(trace, "utf8") : "") };
}

const GROUPS = [...Map.groupBy(VECTORS, ({ group, name }) => group ?? name).values()];

describe.each(GROUPS.map((group) => [group.map(({ name }) => name).join("; "), group] as const))(
  "%s",
  (_names, group) => {
    test("runs nothing, whatever action is called", async () => {
      const hostile = openHostile(group);
      const { repo } = group[0]!;
      let worked = 0;
      for (const [action, input] of CALLS) {
        const { ok, error } = await hostile.call(action, { ...input, repo });
        expect(hostile.fired(), `${action} ${JSON.stringify(input)}`).toBe("");
        expect(error?.code).not.toBe("INTERNAL");
        worked += ok ? 1 : 0;
      }
      // A refusal is safe too, but a test in which everything is refused would prove nothing.
      expect(worked).toBeGreaterThan(CALLS.length / 2);
      await hostile.close();
    });

    test.each(group.filter(({ control }) => control))(
      "$name would have run something under git itself",
      async (vector) => {
        const hostile = openHostile(group);
        const given = vector.control!(hostile.hostiles[group.indexOf(vector)]!);
        const program = given.length > 0 ? "git" : join(hostile.top, "node_modules/.bin/git");
        try {
          execFileSync(program, given, { cwd: hostile.top, env: hostile.env, stdio: "ignore" });
        } catch {
          // Most commands fail when the planted program does.
        }
        expect(hostile.fired()).toContain(`${vector.name}: `);
        await hostile.close();
      },
    );
  },
);

test("there are at least twenty vectors, and every action is tried with each", async () => {
  expect(VECTORS.length).toBeGreaterThanOrEqual(20);
  expect(new Set(CALLS.map(([action]) => action)).size).toBe(9);
  await template.close();
});
