import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEditWorkspace, type EditWorkspace } from "../../testing/fs/edit-workspace.ts";

let ws: EditWorkspace;
beforeEach(() => {
  ws = createEditWorkspace();
});
afterEach(() => ws.close());

const hashOf = (bytes: string | Buffer) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const at = (name: string) => join(ws.root, name);
const uriOf = (name: string) => `file://${at(name)}`;
const textOf = (name: string) => readFileSync(at(name), "utf8");

const replace = (old: string, text: string) => [{ op: "replace" as const, old, new: text }];
const update = (name: string, old: string, text: string) =>
  `*** Update File: ${name}\n@@\n-${old}\n+${text}\n`;
const patchOf = (...parts: string[]) => `*** Begin Patch\n${parts.join("")}*** End Patch\n`;
const unified = (name: string, old: string, text: string) =>
  `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${old}\n+${text}\n`;

/** Creates files with these contents, and returns them as `files` of a call. */
function given(files: Record<string, string>) {
  return Object.entries(files).map(([uri, content]) => {
    mkdirSync(join(at(uri), ".."), { recursive: true });
    writeFileSync(at(uri), content);
    return { uri, base_hash: hashOf(content) };
  });
}

test.each([
  ["structured edits", replace("one", "two")],
  ["a unified diff", unified("a.txt", "one", "two")],
  ["a Begin Patch text", patchOf(update("a.txt", "one", "two"))],
])("%s change a file, and the answer has hash, match, hunks and undo", async (_form, patch) => {
  const [file] = given({ "a.txt": "one\n" });
  const answer = await ws.ok("apply_patch", { ...file!, patch });
  expect(textOf("a.txt")).toBe("two\n");
  expect(answer.patch_id).toMatch(/^patch_/);
  expect(answer.undo).toMatch(/^blob:sha256:/);
  expect(answer.files).toEqual([
    {
      uri: uriOf("a.txt"),
      hash: hashOf("two\n"),
      match: "exact",
      hunks: [{ line: 0, added: 1, removed: 1, offset: 0 }],
    },
  ]);
});

test("without base_hash nothing is written, and the answer names the files that need one", async () => {
  given({ "a.txt": "one\n", "b.txt": "one\n" });
  const patch = patchOf(
    update("a.txt", "one", "two"),
    update("b.txt", "one", "two"),
    "*** Add File: c\n+c\n",
  );
  expect(await ws.fail("apply_patch", { patch })).toMatchObject({
    code: "PRECONDITION_REQUIRED",
    details: { uris: [uriOf("a.txt"), uriOf("b.txt")] },
  });
  expect((await ws.fail("apply_patch", { uri: "a.txt", patch: replace("one", "two") })).code).toBe(
    "PRECONDITION_REQUIRED",
  );
  expect(textOf("a.txt")).toBe("one\n");
  expect(ws.names()).toEqual(["a.txt", "b.txt"]);
});

test("a stale base_hash is refused with both hashes, the diff since base and a rebased patch that applies", async () => {
  const [file] = given({ "a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n" });
  const theirs = await ws.ok("apply_patch", { ...file!, patch: replace("9", "nine") });
  const patch = unified("a.txt", "1", "one");
  const error = await ws.fail("apply_patch", { ...file!, patch });
  expect(error).toMatchObject({
    code: "CONFLICT",
    details: { uri: uriOf("a.txt"), expected: file!.base_hash, actual: theirs.files[0]!.hash },
  });
  const details = error.details as { actual: string; diff: string; rebased_patch: string };
  expect(details.diff).toContain("-9\n+nine\n");
  await ws.ok("apply_patch", { patch: details.rebased_patch, base_hash: details.actual });
  expect(textOf("a.txt")).toBe("one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
});

test("a stale edit with only a line number, or whose text is gone, is not rebased", async () => {
  const [file] = given({ "a.txt": "one\ntwo\n" });
  writeFileSync(at("a.txt"), "zero\none\n");
  for (const patch of [
    [{ op: "insert" as const, line: 1, text: "x\n" }],
    [{ op: "delete" as const, range: { start: { line: 0 }, end: { line: 1 } } }],
    replace("two", "2"),
  ]) {
    const { code, details } = await ws.fail("apply_patch", { ...file!, patch });
    expect(code).toBe("CONFLICT");
    expect(details).not.toHaveProperty("rebased_patch");
  }
});

test("a dry run answers like the real one, with a diff, and changes nothing", async () => {
  const files = given({ "a.txt": "one\n", "b.txt": "one\n" });
  const request = {
    files,
    patch: patchOf(update("a.txt", "one", "two"), "*** Delete File: b.txt\n", "*** Add File: n/c\n+c\n"),
  };
  const state = () => readdirSync(join(ws.base, "state"), { recursive: true, encoding: "utf8" });
  const before = state();
  const dry = await ws.ok("apply_patch", { ...request, dry_run: true });
  expect(state().filter((name) => !before.includes(name) && !name.endsWith("/lock"))).toEqual([]);
  expect(ws.names()).toEqual(["a.txt", "b.txt"]);
  expect(dry.undo).toBeNull();
  expect(dry.diff).toContain("-one\n+two\n");
  expect(dry.diff).toContain("deleted file mode");
  expect(dry.diff).toContain("new file mode");
  const real = await ws.ok("apply_patch", request);
  expect(real.files).toEqual(dry.files);
});

test("a dry run's diff is bounded", async () => {
  const lines = (text: string) => Array.from({ length: 9_000 }, (_, i) => `${text} ${i}\n`).join("");
  const content = lines("line").replaceAll("line", "old");
  const [file] = given({ "a.txt": content });
  const answer = await ws.ok("apply_patch", {
    ...file!,
    patch: [{ op: "replace", old: "old", new: "new", count: 9_000 }],
    dry_run: true,
  });
  expect(answer.diff!.length).toBeLessThanOrEqual(32 * 1024);
  expect(answer.diff_truncated).toBe(true);
});

test("with hundreds of hunks the first are listed and the rest counted", async () => {
  const [file] = given({ a: "old\n".repeat(300) });
  const patch = Array.from({ length: 300 }, (_, line) => ({
    op: "delete" as const,
    range: { start: { line, col: 0 }, end: { line, col: 1 } },
  }));
  const { files } = await ws.ok("apply_patch", { ...file!, patch });
  expect(files[0]).toMatchObject({ hunks_omitted: 100 });
  expect(files[0]!.hunks).toHaveLength(200);
});

test("one failing file prevents all changes, and is named", async () => {
  const files = given({ "a.txt": "one\n", "b.txt": "other\n" });
  const patch = patchOf(
    update("a.txt", "one", "two"),
    update("b.txt", "one", "two"),
    "*** Add File: c\n+c\n",
  );
  const uri = `file://${ws.root}/b.txt`;
  expect(await ws.fail("apply_patch", { files, patch })).toMatchObject({
    code: "PATCH_FAILED",
    message: expect.stringContaining(uri),
    details: { uri, hunk: 1 },
  });
  expect(textOf("a.txt")).toBe("one\n");
  expect(ws.names()).toEqual(["a.txt", "b.txt"]);
});

test("creates, deletes, renames, copies and mode changes happen together", async () => {
  const files = given({ "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "run.sh": "#!\n" });
  chmodSync(at("b.txt"), 0o640);
  chmodSync(at("run.sh"), 0o640);
  const patch = [
    "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
    "diff --git a/b.txt b/deep/moved.txt\nrename from b.txt\nrename to deep/moved.txt\n--- a/b.txt\n+++ b/deep/moved.txt\n@@ -1 +1 @@\n-b\n+B\n",
    "diff --git a/c.txt b/copy.txt\ncopy from c.txt\ncopy to copy.txt\n",
    "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n",
    "diff --git a/new.sh b/new.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1 @@\n+new\n",
  ].join("");
  const answer = await ws.ok("apply_patch", { files, patch });
  expect(ws.names()).toEqual(["c.txt", "copy.txt", "deep", "deep/moved.txt", "new.sh", "run.sh"]);
  expect([textOf("deep/moved.txt"), textOf("copy.txt")]).toEqual(["B\n", "c\n"]);
  const mode = (name: string) => statSync(at(name)).mode & 0o777;
  expect([mode("deep/moved.txt"), mode("run.sh"), mode("new.sh")]).toEqual([
    0o640,
    0o750,
    0o777 & ~process.umask(),
  ]);
  expect(answer.files).toMatchObject([
    { uri: uriOf("a.txt"), hash: null, deleted: true },
    { uri: uriOf("deep/moved.txt"), hash: hashOf("B\n"), renamed_from: uriOf("b.txt") },
    { uri: uriOf("copy.txt"), copied_from: uriOf("c.txt") },
    { uri: uriOf("run.sh") },
    { uri: uriOf("new.sh"), created: true },
  ]);
  await ws.ok("apply_patch", { patch: answer.undo! });
  expect(ws.names()).toEqual(["a.txt", "b.txt", "c.txt", "run.sh"]);
  expect([mode("b.txt"), mode("run.sh"), textOf("b.txt")]).toEqual([0o640, 0o640, "b\n"]);
});

test("two files can swap names in one patch", async () => {
  const files = given({ a: "a\n", b: "b\n" });
  const move = (from: string, to: string) =>
    `diff --git a/${from} b/${to}\nsimilarity index 100%\nrename from ${from}\nrename to ${to}\n`;
  await ws.ok("apply_patch", { files, patch: move("a", "b") + move("b", "a") });
  expect([textOf("a"), textOf("b")]).toEqual(["b\n", "a\n"]);
});

test("a file in the way of a create or rename is not overwritten", async () => {
  const files = given({ a: "a\n", b: "b\n" });
  const rename = "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n";
  for (const patch of [rename, patchOf("*** Add File: b\n+new\n")]) {
    const error = await ws.fail("apply_patch", { files, patch });
    expect(error).toMatchObject({
      code: "ALREADY_EXISTS",
      details: { uri: uriOf("b"), hash: hashOf("b\n") },
    });
  }
  expect([textOf("a"), textOf("b")]).toEqual(["a\n", "b\n"]);
});

test("uri wins over the name in a patch of one file", async () => {
  const [file] = given({ "deep/a.txt": "one\n" });
  await ws.ok("apply_patch", { ...file!, patch: unified("wrong.txt", "one", "two") });
  expect(textOf("deep/a.txt")).toBe("two\n");
});

test("an edit through a link changes the file and keeps the link", async () => {
  const [file] = given({ "real.txt": "one\n" });
  symlinkSync("real.txt", at("link"));
  const answer = await ws.ok("apply_patch", {
    uri: "link",
    base_hash: file!.base_hash,
    patch: replace("one", "two"),
  });
  expect(answer.files[0]!.uri).toBe(uriOf("real.txt"));
  expect(readlinkSync(at("link"))).toBe("real.txt");
  expect(textOf("real.txt")).toBe("two\n");
  const deletes = patchOf("*** Delete File: link\n");
  expect((await ws.fail("apply_patch", { patch: deletes, base_hash: hashOf("two\n") })).code).toBe(
    "NOT_A_FILE",
  );
});

test("one file under two names cannot be changed twice in one patch", async () => {
  const files = given({ a: "one\n", b: "one\n" });
  symlinkSync("a", at("link"));
  linkSync(at("a"), at("hard"));
  for (const other of ["link", "hard"]) {
    const patch = patchOf(update("a", "one", "two"), update(other, "one", "2"));
    const request = { patch, files: [...files, { uri: other, base_hash: files[0]!.base_hash }] };
    expect((await ws.fail("apply_patch", request)).code).toBe("PATCH_FAILED");
  }
  expect(textOf("a")).toBe("one\n");
});

test("mode, owner and other hard links of a file are preserved", async () => {
  const files = given({ a: "one\n", b: "one\n" });
  chmodSync(at("a"), 0o2751);
  if (process.getuid?.() === 0) chownSync(at("b"), 12_345, 54_321);
  const { uid, gid } = statSync(at("b"));
  linkSync(at("a"), at("same"));
  const patch = patchOf(update("a", "one", "two"), update("b", "one", "two"));
  await ws.ok("apply_patch", { files, patch });
  expect(statSync(at("a"))).toMatchObject({ nlink: 2, ino: statSync(at("same")).ino });
  expect(statSync(at("a")).mode & 0o7777).toBe(0o2751);
  expect(textOf("same")).toBe("two\n");
  expect(statSync(at("b"))).toMatchObject({ uid, gid });
  expect(ws.names()).toEqual(["a", "b", "same"]);
});

test("a read-only file is not changed", async () => {
  const [file] = given({ a: "one\n" });
  chmodSync(at("a"), 0o444);
  expect((await ws.fail("apply_patch", { ...file!, patch: replace("one", "two") })).code).toBe(
    "ACCESS_DENIED",
  );
});

test("protected files, paths outside and special files are refused", async () => {
  given({ ".git/config": "one\n", a: "one\n" });
  writeFileSync(join(ws.base, "outside"), "one\n");
  symlinkSync(join(ws.base, "outside"), at("out"));
  symlinkSync(".git/config", at("inner"));
  const base_hash = hashOf("one\n");
  const code = async (patch: string) => (await ws.fail("apply_patch", { patch, base_hash })).code;
  for (const name of [".git/config", "inner"])
    expect(await code(patchOf(update(name, "one", "two"))), name).toBe("PROTECTED_PATH");
  expect(await code(patchOf("*** Add File: .claude/settings.json\n+{}\n"))).toBe("PROTECTED_PATH");
  expect(await code("diff --git a/a b/.git/hooks/x\nrename from a\nrename to .git/hooks/x\n")).toBe(
    "PROTECTED_PATH",
  );
  for (const name of ["../outside", "out", "/etc/passwd"])
    expect(await code(patchOf(update(name, "one", "two"))), name).toBe("OUTSIDE_WORKSPACE");
  expect(await code(patchOf(update("missing", "one", "two")))).toBe("NOT_FOUND");
  expect(await code(patchOf(update(".", "one", "two")))).toBe("NOT_A_FILE");
  expect([textOf("a"), textOf(".git/config")]).toEqual(["one\n", "one\n"]);
});

test("undo and redo alternate, and a different state is a conflict", async () => {
  const [file] = given({ a: "one\r\ntwo" });
  const first = await ws.ok("apply_patch", { ...file!, patch: replace("two", "$&") });
  const undone = await ws.ok("apply_patch", { patch: first.undo! });
  expect(textOf("a")).toBe("one\r\ntwo");
  await ws.ok("apply_patch", { patch: undone.undo! });
  expect(textOf("a")).toBe("one\r\n$&");
  writeFileSync(at("a"), "theirs");
  expect(await ws.fail("apply_patch", { patch: first.undo! })).toMatchObject({
    code: "CONFLICT",
    details: { expected: hashOf("one\r\n$&"), actual: hashOf("theirs") },
  });
  expect(textOf("a")).toBe("theirs");
});

test("an undo can be previewed", async () => {
  const [file] = given({ a: "one\n" });
  const { undo } = await ws.ok("apply_patch", { ...file!, patch: replace("one", "two") });
  expect((await ws.ok("apply_patch", { patch: undo!, dry_run: true })).diff).toContain("-two\n+one\n");
  expect(textOf("a")).toBe("two\n");
});

test("a ref to a stored patch applies it; an unknown one is NOT_FOUND", async () => {
  const [file] = given({ a: "one\n" });
  const patch = `blob:${ws.blobs.put(Buffer.from(unified("a", "one", "two")))}`;
  await ws.ok("apply_patch", { patch, base_hash: file!.base_hash });
  expect(textOf("a")).toBe("two\n");
  expect((await ws.fail("apply_patch", { patch: `blob:${hashOf("unknown")}` })).code).toBe("NOT_FOUND");
});

test("a forged or altered undo record is refused", async () => {
  const [file] = given({ a: "one\n" });
  const { undo } = await ws.ok("apply_patch", { ...file!, patch: replace("one", "two") });
  const record = ws.blobs.get(undo!.slice("blob:".length)).toString();
  const evil = ws.blobs.put(Buffer.from("evil"));
  const entries = [
    {
      kind: "steps",
      steps: [
        {
          files: [{ uri: uriOf("b"), kind: "file", before: { hash: evil, mode: 0o4755 }, after: null }],
          folders: [],
          modes: [],
        },
      ],
      resumes: false,
    },
    { kind: "tree", tree: { uri: uriOf("x"), tree: "blobs", manifest: evil } },
    { kind: "tree", tree: { uri: uriOf("x"), tree: "trash", id: "0".repeat(32) } },
  ];
  const seal = record.slice(record.indexOf("*** Seal"));
  for (const text of [
    record.replace("/a", "/b"),
    record.replace(seal, ""),
    ...entries.map((entry) => `*** Octant Undo\n${JSON.stringify(entry)}\n${seal}`),
  ]) {
    const patch = `blob:${ws.blobs.put(Buffer.from(text))}`;
    expect((await ws.fail("apply_patch", { patch })).code).toBe("PATCH_FAILED");
  }
  expect(ws.names()).toEqual(["a"]);
  expect(textOf("a")).toBe("two\n");
});

test("a patch that changes nothing leaves the file alone", async () => {
  const [file] = given({ a: "one\n" });
  const { ino } = statSync(at("a"));
  const answer = await ws.ok("apply_patch", { ...file!, patch: replace("one", "one") });
  expect(answer.files[0]!.hash).toBe(file!.base_hash);
  expect(statSync(at("a")).ino).toBe(ino);
});

test("fifty edits with the same base_hash have exactly one winner, five times", async () => {
  let [file] = given({ a: "round 0\n" });
  for (let round = 0; round < 5; round++) {
    const results = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const patch = replace(`round ${round}`, `round ${round + 1}\nby ${i}`);
        const lost = ws.fail("apply_patch", { ...file!, patch });
        return lost.then(
          ({ code }) => code,
          () => `won by ${i}`,
        );
      }),
    );
    const winners = results.filter((result) => result.startsWith("won"));
    expect(winners).toHaveLength(1);
    expect(results.filter((result) => result === "CONFLICT")).toHaveLength(49);
    expect(textOf("a")).toContain(`round ${round + 1}\n${winners[0]!.slice("won ".length)}\n`);
    file = { uri: "a", base_hash: hashOf(textOf("a")) };
  }
  expect(ws.names()).toEqual(["a"]);
});

test("a cancelled call changes nothing", async () => {
  const [file] = given({ a: "one\n" });
  const error = await ws.fail("apply_patch", { ...file!, patch: replace("one", "two") }, AbortSignal.abort());
  expect(error.code).toBe("CANCELLED");
  expect(textOf("a")).toBe("one\n");
});

test("a file of ten megabytes is edited byte for byte", async () => {
  const content = `${"x".repeat(99)}\n`.repeat(105_000);
  const [file] = given({ a: `${content}needle\n${content}`.slice(0, 10_500_008) });
  await ws.ok("apply_patch", { ...file!, patch: replace("needle", "thread") });
  expect(lstatSync(at("a")).size).toBe(10_500_008);
  expect(textOf("a").slice(10_500_000, 10_500_006)).toBe("thread");
});
