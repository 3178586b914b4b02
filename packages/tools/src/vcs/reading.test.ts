import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type OpenOptions, type OpenRepository, openRepository } from "../../testing/vcs/open-repository.ts";

const open: OpenRepository[] = [];
const repository = (options?: OpenOptions): OpenRepository => {
  const one = openRepository(options);
  open.push(one);
  return one;
};
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A repository with one commit of two files. */
const withCommit = (options?: OpenOptions): OpenRepository => repository({ ...options, commit: true });

/** Both branches change the same line. */
function withConflict(): OpenRepository {
  const one = withCommit();
  one.git("checkout", "-q", "-b", "other");
  one.write("a.txt", "one\nTWO\nthree\n");
  one.git("commit", "-qam", "theirs");
  one.git("checkout", "-q", "main");
  one.write("a.txt", "one\n2\nthree\n");
  one.git("commit", "-qam", "ours");
  return one;
}

const fails = (work: () => unknown) => expect(work).toThrow();
const uri = ({ top }: OpenRepository, path: string) => `file://${top}/${path}`;

test("a folder without a repository is refused with instructions", async () => {
  const { fail } = repository({ bare: true });
  const { code, message } = await fail("status", {});
  expect(code).toBe("NOT_A_REPOSITORY");
  expect(message).toContain('proc.exec with ["git", "init"]');
});

test("a repository without commits has a branch, no head, an empty log and a diff against nothing", async () => {
  const { ok, write, git } = repository();
  write("a.txt", "a\n");
  git("add", ".");
  expect(await ok("status", {})).toMatchObject({ branch: "main", head: null, counts: { staged: 1 } });
  expect((await ok("log", {})).commits).toEqual([]);
  expect(await ok("diff", { ref: "HEAD" })).toMatchObject({ file_count: 1, added: 1 });
  expect((await ok("branch", {})).branches).toEqual([]);
});

test("status distinguishes staged, unstaged, untracked, ignored and renamed files", async () => {
  const one = withCommit();
  one.write("a.txt", "changed\n");
  one.git("mv", "src/b.txt", "src/c.txt");
  one.write("new/file.txt", "new\n");
  one.write("x.log", "log\n");
  one.write(".gitignore", "*.log\n");
  const { entries, counts, clean } = await one.ok("status", { ignored: true });
  expect(entries).toEqual([
    { uri: uri(one, "a.txt"), kind: "changed", unstaged: "modified" },
    { uri: uri(one, "src/c.txt"), kind: "changed", staged: "renamed", renamed_from: uri(one, "src/b.txt") },
    { uri: uri(one, ".gitignore"), kind: "untracked" },
    { uri: uri(one, "new"), kind: "untracked", folder: true },
    { uri: uri(one, "x.log"), kind: "ignored" },
  ]);
  expect({ counts, clean }).toEqual({
    counts: { staged: 1, unstaged: 1, untracked: 2, conflicts: 0, ignored: 1 },
    clean: false,
  });
});

test("pages of status neither repeat nor drop entries while the files change", async () => {
  const one = repository();
  for (let n = 0; n < 25; n++) one.write(`f${n}.txt`, "x\n");
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await one.ok("status", { limit: 10, ...(cursor && { cursor }) });
    seen.push(...page.entries.map((entry) => entry.uri));
    cursor = page.paging.cursor ?? undefined;
    rmSync(join(one.top, "f0.txt"), { force: true });
  } while (cursor);
  expect(new Set(seen).size).toBe(25);
});

test("ahead and behind are counted, and a detached head is reported", async () => {
  const one = withCommit();
  one.git("clone", "-q", ".", "../clone");
  execFileSync("git", ["commit", "-q", "--allow-empty", "-m", "more"], {
    cwd: join(one.base, "clone"),
    env: one.env,
  });
  one.git("remote", "add", "origin", "../clone");
  one.git("fetch", "-q", "origin");
  one.git("branch", "-q", "--set-upstream-to=origin/main");
  one.git("commit", "-q", "--allow-empty", "-m", "mine");
  expect(await one.ok("status", {})).toMatchObject({ upstream: "origin/main", ahead: 1, behind: 1 });
  one.git("checkout", "-q", "--detach");
  expect(await one.ok("status", {})).toMatchObject({ branch: null, head: one.git("rev-parse", "HEAD") });
});

test("a conflict is data: kind, base, ours and theirs, with contents for vcs.show", async () => {
  const one = withConflict();
  fails(() => one.git("merge", "-q", "other"));
  const { operation, entries } = await one.ok("status", {});
  expect(operation).toEqual({ kind: "merge", commit: one.git("rev-parse", "other") });
  const [{ conflict, kind }] = entries as [(typeof entries)[number]];
  expect([kind, conflict?.kind]).toEqual(["conflict", "both_modified"]);
  const texts = await Promise.all(
    [conflict?.base, conflict?.ours, conflict?.theirs].map(
      async (side) => (await one.ok("show", { ref: side!.id })).text,
    ),
  );
  expect(texts).toEqual(["one\ntwo\nthree\n", "one\n2\nthree\n", "one\nTWO\nthree\n"]);
  expect((await one.ok("diff", {})).files).toMatchObject([{ change: "conflict" }]);
});

test.each(["rebase", "cherry-pick", "revert", "bisect"] as const)(
  "a %s in progress is reported",
  async (kind) => {
    const one = withConflict();
    if (kind === "rebase") fails(() => one.git("rebase", "-q", "other"));
    if (kind === "cherry-pick") fails(() => one.git("cherry-pick", "other"));
    if (kind === "revert") {
      one.write("a.txt", "else\n");
      one.git("commit", "-qam", "else");
      fails(() => one.git("revert", "--no-edit", "HEAD~1"));
    }
    if (kind === "bisect") one.git("bisect", "start");
    expect((await one.ok("status", {})).operation).toMatchObject(
      kind === "rebase" ? { kind, branch: "main", step: 1, steps: 1 } : { kind },
    );
  },
);

test("a diff comes in pages of whole files, and an oversized file has a ref", async () => {
  const one = repository();
  for (const [n, size] of [10, 10, 4_000, 10].entries()) one.write(`f${n}`, "line of text\n".repeat(size));
  one.git("add", ".");
  const input = { staged: true, max_bytes: 1_000 };
  const first = await one.ok("diff", input);
  expect(first).toMatchObject({ file_count: 4, added: 4_030 });
  const pages = [first];
  for (let cursor = first.paging.cursor; cursor; cursor = pages.at(-1)!.paging.cursor)
    pages.push(await one.ok("diff", { ...input, cursor }));
  const files = pages.flatMap((page) => page.files);
  expect(files.map((file) => file.uri)).toEqual([0, 1, 2, 3].map((n) => uri(one, `f${n}`)));
  expect(files[2]?.ref).toMatch(/^blob:/);
  expect(pages.every((page) => Buffer.byteLength(page.patch) <= 1_000)).toBe(true);
  one.git("rm", "-q", "-r", "--cached", ".");
  for (let n = 0; n < 4; n++) rmSync(join(one.top, `f${n}`));
  expect((await one.ok("apply", { patch: first.ref! })).files).toHaveLength(4);
});

test("diff compares with a commit, two commits, and a merge base", async () => {
  const one = withConflict();
  const added = async (ref: string) => (await one.ok("diff", { ref })).patch.match(/^\+[^+].*$/gm);
  expect(await added("other..main")).toEqual(["+2"]);
  expect(await added("main...other")).toEqual(["+TWO"]);
  expect(await added("HEAD~1")).toEqual(["+2"]);
  expect((await one.fail("diff", { ref: "nowhere" })).code).toBe("NOT_FOUND");
});

test("a diff of the working tree lists the new files that git leaves out of it", async () => {
  const one = withCommit();
  expect(await one.ok("diff", {})).not.toHaveProperty("untracked");
  one.write("new.txt", "new\n");
  one.write("folder/one.txt", "new\n");
  const untracked = [uri(one, "folder"), uri(one, "new.txt")];
  for (const input of [{}, { ref: "HEAD" }])
    expect(await one.ok("diff", input)).toMatchObject({ file_count: 0, untracked });
  expect(await one.ok("diff", { path: "new.txt" })).toMatchObject({ untracked: [uri(one, "new.txt")] });
  for (const input of [{ staged: true }, { ref: "HEAD..HEAD" }])
    expect(await one.ok("diff", input)).not.toHaveProperty("untracked");
});

test("log pages are stable while commits are added, and a path narrows them, across renames if requested", async () => {
  const one = withCommit();
  for (let n = 0; n < 5; n++) one.git("commit", "-q", "--allow-empty", "-m", `empty ${n}`);
  one.git("mv", "a.txt", "moved.txt");
  one.git("commit", "-qm", "move");
  const first = await one.ok("log", { limit: 4 });
  one.git("commit", "-q", "--allow-empty", "-m", "meanwhile");
  const second = await one.ok("log", { limit: 4, cursor: first.paging.cursor! });
  const messages = [...first.commits, ...second.commits].map(({ message }) => message);
  expect(messages).toEqual(["move", "empty 4", "empty 3", "empty 2", "empty 1", "empty 0", "first"]);
  const of = async (follow: boolean) =>
    (await one.ok("log", { path: "moved.txt", follow })).commits.map(({ message }) => message);
  expect([await of(false), await of(true)]).toEqual([["move"], ["move", "first"]]);
});

test("a long history comes page by page, to its first commit", async () => {
  const one = repository();
  const count = 1_000;
  const history = Array.from(
    { length: count },
    (_, n) =>
      `commit refs/heads/main\ncommitter A <a@b> ${1_700_000_000 + n} +0100\ndata 5\nn${String(n).padStart(4, "0")}\n`,
  );
  execFileSync("git", ["fast-import", "--quiet"], { cwd: one.top, env: one.env, input: history.join("\n") });
  let cursor: string | undefined;
  const seen: string[] = [];
  do {
    const { commits, paging }: Awaited<ReturnType<typeof one.ok<"log">>> = await one.ok("log", {
      limit: 1_000,
      ...(cursor && { cursor }),
    });
    seen.push(...commits.map(({ message }) => message));
    cursor = paging.cursor ?? undefined;
  } while (cursor);
  expect(seen).toEqual(Array.from({ length: count }, (_, n) => `n${String(count - 1 - n).padStart(4, "0")}`));
});

test("show returns a commit's message, stat and patch, a file in a commit, and its bytes behind a ref", async () => {
  const one = withConflict();
  const commit = await one.ok("show", {});
  expect(commit).toMatchObject({
    kind: "commit",
    message: "ours",
    added: 1,
    removed: 1,
    author: { name: "Ada" },
  });
  expect(commit.patch).toContain("+2\n");
  const file = await one.ok("show", { ref: "HEAD~1", path: "a.txt" });
  expect(file).toMatchObject({ kind: "file", text: "one\ntwo\nthree\n", truncated: false });
  expect(await one.call("fs.read", { uri: file.ref })).toMatchObject({
    ok: true,
    data: { text: "one\ntwo\nthree\n" },
  });
  expect((await one.fail("show", { path: "src" })).code).toBe("NOT_A_FILE");
  expect((await one.fail("show", { path: "gone" })).code).toBe("NOT_FOUND");
});

test("blame returns each line's commit, page by page, and uncommitted lines", async () => {
  const one = withConflict();
  one.write("a.txt", "one\n2\nthree\nfour\n");
  const whole = await one.ok("blame", { path: "a.txt" });
  expect(whole.groups.map(({ line, summary, hash }) => [line, hash === null ? null : summary])).toEqual([
    [0, "first"],
    [1, "ours"],
    [2, "first"],
    [3, null],
  ]);
  const page = await one.ok("blame", { path: "a.txt", limit: 3 });
  const rest = await one.ok("blame", { path: "a.txt", limit: 3, cursor: page.paging.cursor! });
  expect(rest.groups).toMatchObject([{ line: 3, text: ["four"] }]);
  const range = { start: { line: 1 }, end: { line: 2 } };
  expect((await one.ok("blame", { path: "a.txt", range })).groups).toMatchObject([{ line: 1, text: ["2"] }]);
  one.write("a.txt", "other\n");
  expect((await one.fail("blame", { path: "a.txt", limit: 3, cursor: page.paging.cursor! })).code).toBe(
    "INVALID_CURSOR",
  );
});

test.each(["new\nline", 'quo"te', "ta\tb", "😀", "-dash", ":(glob)*", "bad\xff"])(
  "a file called %j is seen by every action",
  async (name) => {
    const one = withCommit();
    const bytes = Buffer.from(name, name.includes("\xff") ? "latin1" : "utf8");
    const at = Buffer.concat([Buffer.from(`${one.top}/`), bytes]);
    const path = `file://${one.top}/${[...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")}`;
    writeFileSync(at, "text\n");
    expect((await one.ok("status", { path })).entries).toMatchObject([{ kind: "untracked" }]);
    expect(await one.ok("commit", { message: "odd", files: [path] })).toMatchObject({ file_count: 1 });
    writeFileSync(at, "other\n");
    expect((await one.ok("diff", { path })).files).toMatchObject([{ change: "modified" }]);
    expect((await one.ok("log", { path })).commits).toMatchObject([{ message: "odd" }]);
    expect((await one.ok("show", { path })).text).toBe("text\n");
    expect((await one.ok("blame", { path, ref: "HEAD" })).groups).toMatchObject([{ summary: "odd" }]);
  },
);

test("a shallow clone is reported", async () => {
  const one = withConflict();
  one.git("clone", "-q", "--depth=1", `file://${one.top}`, "inner");
  expect(await one.ok("log", { repo: "inner" })).toMatchObject({
    shallow: true,
    commits: [{ message: "ours" }],
  });
});

test("a linked worktree is a repository; a .git file that points to another user's repository is refused", async () => {
  const one = withCommit({ root: "tree" });
  rmSync(join(one.base, "tree"), { recursive: true });
  one.git("worktree", "add", "-q", "-b", "linked", "../tree");
  expect(await one.ok("status", {})).toMatchObject({ branch: "linked", clean: true });
  mkdirSync(join(one.base, "tree/planted"));
  writeFileSync(join(one.base, "tree/planted/.git"), `gitdir: ${one.top}/.git\n`);
  expect((await one.fail("log", { repo: "planted" })).code).toBe("OUTSIDE_WORKSPACE");
  rmSync(join(one.base, "tree/planted/.git"));
  symlinkSync(join(one.top, ".git"), join(one.base, "tree/planted/.git"));
  expect((await one.fail("log", { repo: "planted" })).code).toBe("OUTSIDE_WORKSPACE");
});

test("a commondir outside the workspace is refused", async () => {
  const one = withCommit();
  const other = join(one.base, "other");
  execFileSync("git", ["clone", "-q", one.top, other]);
  writeFileSync(join(one.top, ".git/commondir"), `${other}/.git\n`);
  expect((await one.fail("log", {})).code).toBe("OUTSIDE_WORKSPACE");
});

test("names that could be options are refused", async () => {
  const one = withCommit();
  for (const ref of ["--output=pwned", "-h", "a\0b", "a\nb"])
    for (const action of ["diff", "log", "show", "checkout"])
      expect((await one.fail(action, { ref })).code).toBe("INVALID_ARGUMENT");
  expect((await one.fail("branch", { op: "create", name: "-x" })).code).toBe("INVALID_ARGUMENT");
  for (const name of ["HEAD", "a..b", "a b", "x.lock"])
    expect((await one.fail("branch", { op: "create", name })).code).toBe("INVALID_ARGUMENT");
});

test("git error messages contain no path outside the workspace", async () => {
  const one = withCommit({ root: "ws/src" });
  writeFileSync(join(one.top, ".git/config"), "[damaged\n");
  const { code, message } = await one.fail("status", {});
  expect(code).toBe("VCS_ERROR");
  expect(message).toMatch(/^git: bad config/);
  expect(message).not.toContain(one.base);
});

test("a cancelled call ends git", async () => {
  const one = withCommit();
  const controller = new AbortController();
  controller.abort();
  expect((await one.fail("status", {}, controller.signal)).code).toBe("CANCELLED");
});
