import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEditWorkspace, type EditWorkspace } from "../../testing/fs/edit-workspace.ts";

let ws: EditWorkspace;
beforeEach(() => {
  ws = createEditWorkspace();
});
afterEach(() => ws.close());

test("a folder is created with its parents; creating it again succeeds", async () => {
  const uri = `file://${ws.root}/a/b`;
  expect(await ws.ok("mkdir", { uri: "a/b" })).toEqual({ uri, created: true });
  expect(await ws.ok("mkdir", { uri: "a/b" })).toEqual({ uri, created: false });
  expect(await ws.ok("mkdir", { uri: "." })).toEqual({ uri: `file://${ws.root}`, created: false });
  expect(ws.names()).toEqual(["a", "a/b"]);
});

test("a file of that name, or on the path, is reported", async () => {
  writeFileSync(join(ws.root, "a"), "");
  expect((await ws.fail("mkdir", { uri: "a" })).code).toBe("ALREADY_EXISTS");
  expect((await ws.fail("mkdir", { uri: "a/b" })).code).toBe("NOT_A_DIRECTORY");
});

test("protected names and paths outside are refused, and nothing is created", async () => {
  mkdirSync(join(ws.base, "outside"));
  symlinkSync(join(ws.base, "outside"), join(ws.root, "link"));
  for (const uri of [".git/hooks", "x/.vscode", ".Claude"])
    expect((await ws.fail("mkdir", { uri })).code).toBe("PROTECTED_PATH");
  for (const uri of ["link/a", "../a"])
    expect((await ws.fail("mkdir", { uri })).code).toBe("OUTSIDE_WORKSPACE");
  expect(ws.names()).toEqual(["link"]);
});
