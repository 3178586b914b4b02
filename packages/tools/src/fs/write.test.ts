import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEditWorkspace, type EditWorkspace } from "../../testing/fs/edit-workspace.ts";

let ws: EditWorkspace;
beforeEach(() => {
  ws = createEditWorkspace();
});
afterEach(() => ws.close());

const hashOf = (bytes: string | Buffer) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

test("a file is created with its parent folders, and the answer has its uri and hash", async () => {
  const content = "grüße $& \r\n\0";
  const answer = await ws.ok("write", { uri: "a/b/ä c.txt", content });
  expect(answer).toMatchObject({ uri: `file://${ws.root}/a/b/%C3%A4%20c.txt`, hash: hashOf(content) });
  expect(readFileSync(join(ws.root, "a/b/ä c.txt"), "utf8")).toBe(content);
  expect(statSync(join(ws.root, "a/b/ä c.txt")).mode & 0o777).toBe(0o666 & ~process.umask());
});

test("base64 is written as bytes; invalid base64 is refused", async () => {
  await ws.ok("write", { uri: "b", content: "AP+A", encoding: "base64" });
  expect(readFileSync(join(ws.root, "b"))).toEqual(Buffer.of(0, 0xff, 0x80));
  for (const content of ["AP+", "A P+", "-_==", "AA==AA=="]) {
    expect((await ws.fail("write", { uri: "c", content, encoding: "base64" })).code).toBe("INVALID_ARGUMENT");
  }
  expect(ws.names()).toEqual(["b"]);
});

test("text that cannot be written exactly is refused", async () => {
  expect((await ws.fail("write", { uri: "a", content: "x\ud800" })).code).toBe("INVALID_ARGUMENT");
});

test("a name with a trailing slash creates no file", async () => {
  for (const uri of ["folder/", `file://${ws.root}/folder/`])
    expect(await ws.fail("write", { uri, content: "x" })).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("mkdir"),
    });
  expect(ws.names()).toEqual([]);
});

test("an existing file is not changed, and the answer has its hash", async () => {
  writeFileSync(join(ws.root, "a"), "old");
  expect(await ws.fail("write", { uri: "a", content: "new" })).toMatchObject({
    code: "ALREADY_EXISTS",
    details: { uri: `file://${ws.root}/a`, hash: hashOf("old") },
  });
  mkdirSync(join(ws.root, "folder"));
  symlinkSync("nowhere", join(ws.root, "dangling"));
  for (const uri of ["folder", "dangling"])
    expect((await ws.fail("write", { uri, content: "new" })).code).toBe("ALREADY_EXISTS");
  expect(readFileSync(join(ws.root, "a"), "utf8")).toBe("old");
});

test("a linked folder inside is written through; one that points outside is refused, also for new folders below it", async () => {
  mkdirSync(join(ws.root, "real"));
  mkdirSync(join(ws.base, "outside"));
  symlinkSync("real", join(ws.root, "inside-link"));
  symlinkSync(join(ws.base, "outside"), join(ws.root, "outside-link"));
  expect((await ws.ok("write", { uri: "inside-link/a", content: "" })).uri).toBe(`file://${ws.root}/real/a`);
  for (const uri of ["outside-link/a", "outside-link/new/a", "../a", "/etc/octant-test"])
    expect((await ws.fail("write", { uri, content: "" })).code).toBe("OUTSIDE_WORKSPACE");
});

test("protected paths are refused before anything is created, also through a link", async () => {
  mkdirSync(join(ws.root, "a"));
  symlinkSync("../.git", join(ws.root, "a/link"));
  mkdirSync(join(ws.root, ".git"));
  const before = ws.names();
  for (const uri of [
    ".git/hooks/pre-commit",
    "sub/.GIT/config",
    ".mcp.json",
    ".vscode/x",
    "a/link/config",
    ".bashrc",
  ])
    expect((await ws.fail("write", { uri, content: "" })).code, uri).toBe("PROTECTED_PATH");
  expect(ws.names()).toEqual(before);
});

test("a file in place of a parent folder is reported", async () => {
  writeFileSync(join(ws.root, "a"), "");
  expect((await ws.fail("write", { uri: "a/b", content: "" })).code).toBe("NOT_A_DIRECTORY");
});

test("the undo ref removes the file with the folders created for it, and its own undo restores it", async () => {
  mkdirSync(join(ws.root, "a"));
  const { undo } = await ws.ok("write", { uri: "a/b/c/d.txt", content: "d" });
  const undone = await ws.ok("apply_patch", { patch: undo });
  expect(ws.names()).toEqual(["a"]);
  await ws.ok("apply_patch", { patch: undone.undo! });
  expect(readFileSync(join(ws.root, "a/b/c/d.txt"), "utf8")).toBe("d");
});

test("fifty concurrent writes of one file have one winner", async () => {
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      ws.ok("write", { uri: "new/a", content: `${i}` }).then(
        () => i,
        () => undefined,
      ),
    ),
  );
  const winners = results.filter((i) => i !== undefined);
  expect(winners).toHaveLength(1);
  expect(readFileSync(join(ws.root, "new/a"), "utf8")).toBe(`${winners[0]}`);
});

test("a cancelled call writes nothing", async () => {
  expect((await ws.fail("write", { uri: "a", content: "" }, AbortSignal.abort())).code).toBe("CANCELLED");
  expect(ws.names()).toEqual([]);
});

test("an overlong name or path is refused, and the next call works", async () => {
  for (const uri of ["x".repeat(256), `a/${"ä".repeat(128)}/b`, "deep/".repeat(900)])
    expect((await ws.fail("write", { uri, content: "" })).code).toBe("INVALID_ARGUMENT");
  expect(ws.names()).toEqual([]);
  await ws.ok("write", { uri: "x".repeat(255), content: "" });
});
