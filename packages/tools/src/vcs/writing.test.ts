import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type OpenOptions, type OpenRepository, openRepository } from "../../testing/vcs/open-repository.ts";

const open: OpenRepository[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A repository with one commit of two files. */
function withCommit(options?: OpenOptions): OpenRepository {
  const one = openRepository({ ...options, commit: true });
  open.push(one);
  return one;
}

const read = ({ top }: OpenRepository, path: string) => readFileSync(join(top, path), "utf8");
const stateOf = ({ git }: OpenRepository) =>
  git("status", "--porcelain", "-uall") + git("diff") + git("diff", "--cached");

test("commit takes exactly the named files, including deletions and new ones, whatever else is staged", async () => {
  const one = withCommit();
  one.write("staged.txt", "staged\n");
  one.git("add", "staged.txt");
  one.write("a.txt", "changed\n");
  one.write("new.txt", "new\n");
  rmSync(join(one.top, "src/b.txt"));
  const done = await one.ok("commit", { message: "exactly", files: ["a.txt", "new.txt", "src/b.txt"] });
  expect(done).toMatchObject({ hash: one.git("rev-parse", "HEAD"), file_count: 3, added: 2, removed: 4 });
  expect(one.git("show", "--name-status", "--format=", "HEAD").split("\n")).toEqual([
    "M\ta.txt",
    "A\tnew.txt",
    "D\tsrc/b.txt",
  ]);
  expect(one.git("status", "--porcelain")).toBe("A  staged.txt");
});

test("without files commit takes the staged changes; with nothing staged it says what to do", async () => {
  const one = withCommit();
  one.write("a.txt", "staged\n");
  one.git("add", ".");
  one.write("a.txt", "later\n");
  await one.ok("commit", { message: "staged" });
  expect(one.git("show", "HEAD:a.txt")).toBe("staged");
  const { code, message } = await one.fail("commit", { message: "more" });
  expect([code, message]).toEqual(["VCS_ERROR", expect.stringContaining("nothing is staged")]);
});

test("a failed commit leaves the index unchanged", async () => {
  const one = withCommit();
  one.write(".gitignore", "*.log\n");
  one.write("x.log", "ignored\n");
  one.write("new.txt", "new\n");
  const before = stateOf(one);
  expect((await one.fail("commit", { message: "x", files: ["new.txt", "x.log"] })).code).toBe("VCS_ERROR");
  expect((await one.fail("commit", { message: "x", files: ["new.txt", "gone.txt"] })).code).toBe("NOT_FOUND");
  expect((await one.fail("commit", { message: "x", files: ["a.txt"] })).message).toContain(
    "nothing to commit",
  );
  expect((await one.fail("commit", { message: "x", files: ["../other"] })).code).toBe("OUTSIDE_WORKSPACE");
  expect(stateOf(one)).toBe(before);
  writeFileSync(join(one.top, ".git/index.lock"), "");
  expect((await one.fail("commit", { message: "x", files: ["new.txt"] })).code).toBe("LOCKED");
});

test("a message is stored unchanged: dashes, comments, quotes, many lines", async () => {
  const one = withCommit();
  const message = "--amend 'it' \"is\" $(me)\n\n# not a comment\n-- \nlast";
  expect(await one.ok("commit", { message, files: ["."], amend: true })).toMatchObject({
    message,
    parents: [],
  });
  expect(await one.ok("commit", { amend: true })).toMatchObject({ message });
  expect((await one.fail("commit", { files: ["a.txt"] })).code).toBe("INVALID_ARGUMENT");
});

test("committing the resolved file ends a merge", async () => {
  const one = withCommit();
  one.git("checkout", "-q", "-b", "other");
  one.write("a.txt", "theirs\n");
  one.write("other.txt", "theirs\n");
  one.git("add", ".");
  one.git("commit", "-qm", "theirs");
  one.git("checkout", "-q", "main");
  one.write("a.txt", "ours\n");
  one.git("commit", "-qam", "ours");
  expect(() => one.git("merge", "-q", "other")).toThrow();
  expect((await one.fail("commit", { message: "merge" })).code).toBe("VCS_ERROR");
  one.write("a.txt", "both\n");
  expect((await one.ok("commit", { message: "merge", files: ["a.txt"] })).parents).toHaveLength(2);
  expect(await one.ok("status", {})).toMatchObject({ clean: true, operation: null });
});

test("checkout carries changes along, and refuses with their names when they would be lost", async () => {
  const one = withCommit();
  one.git("checkout", "-q", "-b", "other");
  one.write("a.txt", "other\n");
  one.write("untracked.txt", "theirs\n");
  one.git("add", ".");
  one.git("commit", "-qm", "other");
  one.git("checkout", "-q", "main");
  one.write("src/b.txt", "mine\n");
  expect(await one.ok("checkout", { ref: "other" })).toMatchObject({ branch: "other", changes: 1 });
  expect(await one.ok("checkout", { ref: "main" })).toMatchObject({ branch: "main" });
  one.write("a.txt", "mine\n");
  one.write("untracked.txt", "mine\n");
  const { code, details } = await one.fail("checkout", { ref: "other" });
  expect(code).toBe("CONFIRM_REQUIRED");
  const lose_changes = ["a.txt", "untracked.txt"].map((path) => `file://${one.top}/${path}`);
  expect(details).toEqual({ would: { lose_changes } });
  expect(read(one, "a.txt")).toBe("mine\n");
  await one.ok("checkout", { ref: "other", force: true });
  expect(read(one, "a.txt")).toBe("other\n");
});

test("checkout creates branches, detaches at commits, and tracks a remote branch", async () => {
  const one = withCommit();
  expect(await one.ok("checkout", { ref: "feature/x", create: true })).toMatchObject({ branch: "feature/x" });
  expect((await one.fail("checkout", { ref: "main", create: true })).code).toBe("ALREADY_EXISTS");
  expect(await one.ok("checkout", { ref: one.git("rev-parse", "HEAD") })).toMatchObject({ branch: null });
  one.git("update-ref", "refs/remotes/origin/theirs", "HEAD");
  one.git("config", "remote.origin.url", "https://example.org/x");
  one.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
  expect(await one.ok("checkout", { ref: "theirs" })).toMatchObject({ branch: "theirs" });
  expect((await one.ok("status", {})).upstream).toBe("origin/theirs");
  expect((await one.fail("checkout", { ref: "nowhere" })).code).toBe("NOT_FOUND");
});

test("an unmerged branch is deleted only by force", async () => {
  const one = withCommit();
  await one.ok("branch", { op: "create", name: "merged" });
  await one.ok("checkout", { ref: "lonely", create: true });
  one.git("commit", "-q", "--allow-empty", "-m", "only here");
  const hash = one.git("rev-parse", "HEAD");
  await one.ok("checkout", { ref: "main" });
  expect(await one.ok("branch", { op: "delete", name: "merged" })).toMatchObject({ name: "merged" });
  const { code, details } = await one.fail("branch", { op: "delete", name: "lonely" });
  expect(code).toBe("CONFIRM_REQUIRED");
  expect(details).toEqual({ would: { lose_commits: [{ hash, subject: "only here" }] } });
  expect(await one.ok("branch", { op: "delete", name: "lonely", force: true })).toMatchObject({ hash });
  expect((await one.fail("branch", { op: "delete", name: "main", force: true })).code).toBe("VCS_ERROR");
  expect((await one.ok("branch", {})).branches).toMatchObject([{ name: "main", current: true }]);
});

test("apply changes all files or none, and its undo reverts it", async () => {
  const one = withCommit();
  one.write("a.txt", "one\n2\nthree\n");
  one.write("src/b.txt", "B\n");
  const { patch } = await one.ok("diff", {});
  one.git("checkout", "-q", ".");
  one.write("src/b.txt", "else\n");
  expect((await one.fail("apply", { patch })).code).toBe("PATCH_FAILED");
  expect(read(one, "a.txt")).toBe("one\ntwo\nthree\n");
  one.git("checkout", "-q", ".");
  const { undo, staged } = await one.ok("apply", { patch });
  expect([read(one, "src/b.txt"), staged, one.git("diff", "--cached")]).toEqual(["B\n", false, ""]);
  expect(await one.call("fs.apply_patch", { patch: undo })).toMatchObject({ ok: true });
  expect(one.git("status", "--porcelain")).toBe("");
});

test("apply with index also stages, with staged only the index changes, and a patch that does not fit changes nothing", async () => {
  const one = withCommit();
  one.write("a.txt", "one\n2\nthree\n");
  const { patch } = await one.ok("diff", {});
  await one.ok("apply", { patch, staged: true });
  expect(one.git("status", "--porcelain")).toBe("M  a.txt");
  one.git("reset", "-q", "--hard");
  await one.ok("apply", { patch, index: true });
  expect(one.git("status", "--porcelain")).toBe("M  a.txt");
  one.git("checkout", "-q", "HEAD", "--", ".");
  one.write("a.txt", "one\ntwo\nthree\n");
  one.git("rm", "-q", "--cached", "a.txt");
  expect((await one.fail("apply", { patch, index: true })).code).toBe("PATCH_FAILED");
  expect(read(one, "a.txt")).toBe("one\ntwo\nthree\n");
});

const create = (name: string, mode = "100644", line = "x") =>
  `diff --git a/${name} b/${name}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+${line}\n${mode === "120000" ? "\\ No newline at end of file\n" : ""}`;

test.each([
  ["outside", create("../x"), "OUTSIDE_WORKSPACE"],
  ["under .git", create(".git/hooks/pre-commit", "100755"), "PROTECTED_PATH"],
  ["under .git in another spelling", create("src/.GIT/config"), "PROTECTED_PATH"],
  ["to a file that an agent obeys", create(".mcp.json"), "PROTECTED_PATH"],
  ["through a link that leads outside", create("away/x"), "OUTSIDE_WORKSPACE"],
  ["through a link", create("inside/x"), "PATCH_FAILED"],
  ["a link that leads outside", create("link", "120000", "../../etc"), "OUTSIDE_WORKSPACE"],
  ["a link to an absolute place", create("link", "120000", "/etc/passwd"), "OUTSIDE_WORKSPACE"],
  ["a link that leads out and looks as if not", create("link", "120000", "src/../../x"), "PATCH_FAILED"],
  ["a link through a link that leads outside", create("link", "120000", "away/x"), "OUTSIDE_WORKSPACE"],
  ["a link into .git", create("link", "120000", ".git/config"), "PROTECTED_PATH"],
])("apply refuses to write %s, into the index too", async (_where, patch, code) => {
  const one = withCommit();
  symlinkSync("..", join(one.top, "away"));
  symlinkSync("src", join(one.top, "inside"));
  const before = stateOf(one);
  expect((await one.fail("apply", { patch })).code).toBe(code);
  expect((await one.fail("apply", { patch: patch + create("fine"), staged: true })).code).toBe(code);
  expect(stateOf(one)).toBe(before);
  expect(existsSync(join(one.base, "x"))).toBe(false);
});

test("a patch with links and submodules changes links, and submodules only in the index", async () => {
  const one = withCommit();
  symlinkSync("a.txt", join(one.top, "link"));
  one.git("init", "-q", "sub");
  execFileSync("git", ["commit", "-q", "--allow-empty", "-m", "in the submodule"], {
    cwd: join(one.top, "sub"),
    env: one.env,
  });
  one.git("add", "-A");
  const { patch } = await one.ok("diff", { staged: true });
  one.git("reset", "-q", "--hard");
  expect(existsSync(join(one.top, "link"))).toBe(false);
  const done = await one.ok("apply", { patch, index: true });
  expect(done).toMatchObject({
    links: [`file://${one.top}/link`],
    submodules: [`file://${one.top}/sub`],
    files: [],
  });
  expect(readlinkSync(join(one.top, "link"))).toBe("a.txt");
  expect((await one.ok("diff", { staged: true })).patch).toBe(patch);
  expect(await one.call("fs.apply_patch", { patch: done.undo })).toMatchObject({ ok: true });
  expect(existsSync(join(one.top, "link"))).toBe(false);
});

test("when the index rejects the patch, links are unchanged too", async () => {
  const one = withCommit();
  symlinkSync("a.txt", join(one.top, "link"));
  const patch = create("new", "120000", "src") + create("fine");
  one.git("update-index", "--add", "--cacheinfo", `100644,${one.git("hash-object", "a.txt")},fine`);
  expect((await one.fail("apply", { patch, index: true })).code).toBe("PATCH_FAILED");
  expect([existsSync(join(one.top, "new")), readlinkSync(join(one.top, "link"))]).toEqual([false, "a.txt"]);
});

test("fs.apply_patch accepts a diff with renames, modes, odd names, binary files, links and submodules", async () => {
  const one = withCommit();
  symlinkSync("a.txt", join(one.top, "link"));
  one.git("init", "-q", "sub");
  one.git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "in the submodule");
  one.git("mv", "a.txt", "é \tmoved.txt");
  chmodSync(join(one.top, "src/b.txt"), 0o755);
  one.write("bytes.bin", Buffer.from([0, 255, 1]));
  one.write("latin.txt", Buffer.from("caf\xe9\n", "latin1"));
  one.git("add", "-A");
  const { patch } = await one.ok("diff", { staged: true });
  one.git("reset", "-q", "--hard");
  const bases = ["a.txt", "src/b.txt"].map(async (path) => {
    const { data } = await one.call("fs.stat", { uri: path });
    return { uri: path, base_hash: (data as { hash: string }).hash };
  });
  expect(await one.call("fs.apply_patch", { patch, files: await Promise.all(bases) })).toMatchObject({
    ok: true,
  });
  expect(readlinkSync(join(one.top, "link"))).toBe("a.txt");
  one.git("add", "-A");
  expect((await one.ok("diff", { staged: true })).patch).toBe(patch);
  expect(lstatSync(join(one.top, "src/b.txt")).mode & 0o100).toBe(0o100);
});

test("when the root is a part of the repository, only that part is seen and changed", async () => {
  const one = withCommit({ root: "ws/src" });
  one.write("a.txt", "outside\n");
  one.write("src/b.txt", "inside\n");
  const { entries, top } = await one.ok("status", {});
  expect([top, entries.map(({ uri }) => uri)]).toEqual([
    `file://${one.top}/src`,
    [`file://${one.top}/src/b.txt`],
  ]);
  const { patch } = await one.ok("diff", {});
  expect(patch).toMatch(/^diff --git a\/b.txt b\/b.txt\n/);
  one.git("checkout", "-q", "src");
  await one.ok("apply", { patch, index: true });
  expect(one.git("status", "--porcelain")).toBe(" M a.txt\nM  src/b.txt");
  one.git("add", ".");
  expect((await one.fail("commit", { message: "all" })).code).toBe("OUTSIDE_WORKSPACE");
  expect(await one.ok("commit", { message: "mine", files: ["b.txt"] })).toMatchObject({ file_count: 1 });
  one.git("commit", "-qm", "theirs");
  expect((await one.ok("log", {})).commits.map(({ message }) => message)).toEqual(["mine", "first"]);
  expect(await one.ok("show", { ref: "HEAD" })).toMatchObject({ files: [] });
  expect((await one.fail("checkout", { ref: "HEAD~1" })).code).toBe("OUTSIDE_WORKSPACE");
});

test("in a repository below the root, patches name files relative to the root", async () => {
  const one = withCommit({ root: "." });
  one.git("mv", "a.txt", "moved.txt");
  one.write("src/b.txt", "B\n");
  one.git("add", "-A");
  const { patch } = await one.ok("diff", { repo: "ws", staged: true });
  expect(patch).toContain("rename from ws/a.txt\nrename to ws/moved.txt\n");
  one.git("reset", "-q", "--hard");
  await one.ok("apply", { repo: "ws", patch, index: true });
  expect(one.git("status", "--porcelain")).toBe("R  a.txt -> moved.txt\nM  src/b.txt");
});

test("an allowed filter runs as the user configured it, not as the repository does; hooks run when allowed", async () => {
  const one = withCommit({ allow: { filters: ["upper"], hooks: true } });
  execFileSync("git", ["config", "--global", "filter.upper.clean", "tr a-z A-Z"], { env: one.env });
  one.git("config", "filter.upper.clean", "echo evil");
  one.git("config", "filter.other.clean", "echo evil");
  one.write(".gitattributes", "a.txt filter=upper\nc.txt filter=other\n");
  one.write("a.txt", "shout\n");
  one.write("c.txt", "calm\n");
  one.write(".git/hooks/pre-commit", "#!/bin/sh\ntouch hooked\n");
  chmodSync(join(one.top, ".git/hooks/pre-commit"), 0o755);
  await one.ok("commit", { message: "x", files: ["a.txt", "c.txt"] });
  expect([one.git("show", "HEAD:a.txt"), one.git("show", "HEAD:c.txt")]).toEqual(["SHOUT", "calm"]);
  expect(existsSync(join(one.top, "hooked"))).toBe(true);
});

test("everything works the same in the workspace's sandbox", async () => {
  const one = withCommit({ sandboxed: true });
  one.write("a.txt", "changed\n");
  const { patch } = await one.ok("diff", {});
  one.git("checkout", "-q", ".");
  await one.ok("apply", { patch, index: true });
  await one.ok("checkout", { ref: "side", create: true });
  expect(await one.ok("commit", { message: "inside", files: ["a.txt"] })).toMatchObject({ file_count: 1 });
  expect((await one.ok("blame", { path: "a.txt" })).groups).toMatchObject([
    { summary: "inside", author: "Ada" },
  ]);
  await one.ok("checkout", { ref: "main" });
  expect((await one.fail("branch", { op: "delete", name: "side" })).code).toBe("CONFIRM_REQUIRED");
  expect(await one.ok("branch", { op: "delete", name: "side", force: true })).toMatchObject({ name: "side" });
  expect(read(one, "a.txt")).toBe("one\ntwo\nthree\n");
});

test("a repository owned by another user works, since none of its programs run", async () => {
  const one = withCommit();
  if (process.geteuid?.() === 0) execFileSync("chown", ["-R", "12345", one.top]);
  expect(await one.ok("status", {})).toMatchObject({ branch: "main" });
  one.write("a.txt", "changed\n");
  expect(await one.ok("commit", { message: "x", files: ["a.txt"] })).toMatchObject({ file_count: 1 });
});
