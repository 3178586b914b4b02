import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createEditWorkspace, type EditWorkspace } from "../../testing/fs/edit-workspace.ts";

let ws: EditWorkspace;
beforeEach(() => {
  ws = createEditWorkspace();
});
afterEach(() => ws.close());

const at = (name: string) => join(ws.root, name);

test("without confirm nothing is removed, and the answer lists what would be", async () => {
  mkdirSync(at("d/e"), { recursive: true });
  writeFileSync(at("d/a"), "123");
  writeFileSync(at("d/e/b"), "45");
  const error = await ws.fail("rm", { uri: "d" });
  expect(error).toMatchObject({
    code: "CONFIRM_REQUIRED",
    details: {
      would: { count: 4, bytes: 5, uris: ["d", "d/a", "d/e", "d/e/b"].map((name) => `file://${at(name)}`) },
    },
  });
  expect(error.message).toContain("recursive: true");
  expect(ws.names()).toEqual(["d", "d/a", "d/e", "d/e/b"]);
});

test("a long list of removals is cut at twenty", async () => {
  mkdirSync(at("d"));
  for (let i = 0; i < 50; i++) writeFileSync(at(`d/${i}`), "");
  const { details } = await ws.fail("rm", { uri: "d" });
  expect(details).toMatchObject({ would: { count: 51 } });
  expect((details as { would: { uris: string[] } }).would.uris).toHaveLength(20);
});

test("a file is removed, and its undo ref restores content and mode", async () => {
  writeFileSync(at("a"), "content");
  chmodSync(at("a"), 0o754);
  const answer = await ws.ok("rm", { uri: "a", confirm: true });
  expect(answer).toMatchObject({ uri: `file://${at("a")}`, removed: 1 });
  expect(ws.names()).toEqual([]);
  await ws.ok("apply_patch", { patch: answer.undo });
  expect(readFileSync(at("a"), "utf8")).toBe("content");
  expect(statSync(at("a")).mode & 0o777).toBe(0o754);
});

test("an undo over an existing file is refused, and the file stays", async () => {
  writeFileSync(at("a"), "old");
  const { undo } = await ws.ok("rm", { uri: "a", confirm: true });
  writeFileSync(at("a"), "new");
  expect((await ws.fail("apply_patch", { patch: undo })).code).toBe("ALREADY_EXISTS");
  expect(readFileSync(at("a"), "utf8")).toBe("new");
});

test("a folder with contents needs recursive; an empty one does not", async () => {
  mkdirSync(at("empty"));
  mkdirSync(at("full"));
  writeFileSync(at("full/a"), "");
  expect((await ws.fail("rm", { uri: "full", confirm: true })).details).toMatchObject({
    issues: [{ path: "recursive" }],
  });
  await ws.ok("rm", { uri: "empty", confirm: true });
  expect(ws.names()).toEqual(["full", "full/a"]);
});

test("a link itself is removed, whether it points to a folder, nowhere or outside", async () => {
  mkdirSync(at("d"));
  writeFileSync(at("d/a"), "");
  for (const [name, to] of [
    ["folder-link", "d"],
    ["dangling", "nowhere"],
    ["out", ws.base],
  ] as const) {
    symlinkSync(to, at(name));
    const { undo } = await ws.ok("rm", { uri: name, confirm: true });
    expect(ws.names()).toEqual(["d", "d/a"]);
    await ws.ok("apply_patch", { patch: undo });
    expect(readlinkSync(at(name))).toBe(to);
    rmSync(at(name));
  }
});

test("only the newest twenty folders can be restored, and the answer says when one cannot", async () => {
  const undos: string[] = [];
  for (let i = 0; i <= 20; i++) {
    mkdirSync(at(`d${i}`));
    undos.push((await ws.ok("rm", { uri: `d${i}`, confirm: true })).undo);
  }
  expect((await ws.fail("apply_patch", { patch: undos[0] })).code).toBe("NOT_FOUND");
  await ws.ok("apply_patch", { patch: undos[1]! });
  expect(ws.names()).toEqual(["d1"]);
});

test("a path that is missing, outside, protected or a root is refused", async () => {
  mkdirSync(at(".git/hooks"), { recursive: true });
  mkdirSync(at("vendor/lib/.git"), { recursive: true });
  mkdirSync(at("ok/node_modules/x/.vscode"), { recursive: true });
  const code = async (uri: string) => (await ws.fail("rm", { uri, confirm: true, recursive: true })).code;
  expect(await code("nothing")).toBe("NOT_FOUND");
  expect(await code("../x")).toBe("OUTSIDE_WORKSPACE");
  for (const uri of [".", ws.root, ".git", ".git/hooks", "vendor", "ok/node_modules/x/.vscode"])
    expect(await code(uri), uri).toBe("PROTECTED_PATH");
  await ws.ok("rm", { uri: "ok", confirm: true, recursive: true });
  expect(existsSync(at("ok"))).toBe(false);
});

describe.each([
  ["on the same file system", false],
  ["when the state is on another file system", true],
])("a tree %s", (_name, elsewhere) => {
  const shared = "/dev/shm";
  const hasOther = existsSync(shared) && statSync(shared).dev !== statSync(tmpdir()).dev;
  let stateHome: string | undefined;

  beforeEach(async () => {
    if (!elsewhere) return;
    await ws.close();
    stateHome = mkdtempSync(join(hasOther ? shared : tmpdir(), "octant-state-"));
    ws = createEditWorkspace(stateHome);
  });
  afterEach(() => stateHome && rmSync(stateHome, { recursive: true, force: true }));

  const fill = () => {
    mkdirSync(at("tree/sub/empty"), { recursive: true });
    writeFileSync(at("tree/a"), "a", { mode: 0o600 });
    writeFileSync(at("tree/sub/run"), "#!", { mode: 0o755 });
    writeFileSync(Buffer.concat([Buffer.from(`${at("tree/sub")}/`), Buffer.of(0xff)]), "odd name");
    symlinkSync("../a", at("tree/sub/link"));
    chmodSync(at("tree/sub"), 0o750);
  };
  const listing = () =>
    execFileSync("find", [ws.root, "-printf", "%P %y %m %l\\n"]).toString("latin1").split("\n").sort();

  test.skipIf(elsewhere && !hasOther)("is removed, restored as it was, and removed again", async () => {
    fill();
    const before = listing();
    const { undo, removed } = await ws.ok("rm", { uri: "tree", confirm: true, recursive: true });
    expect(removed).toBe(7);
    expect(ws.names()).toEqual([]);
    const restored = await ws.ok("apply_patch", { patch: undo });
    expect(listing()).toEqual(before);
    expect(readFileSync(at("tree/sub/link"), "utf8")).toBe("a");
    const again = await ws.ok("apply_patch", { patch: restored.undo! });
    expect(ws.names()).toEqual([]);
    await ws.ok("apply_patch", { patch: again.undo! });
    expect(listing()).toEqual(before);
  });

  test.skipIf(elsewhere && !hasOther)("is not removed again after a change", async () => {
    fill();
    const { undo } = await ws.ok("rm", { uri: "tree", confirm: true, recursive: true });
    const restored = await ws.ok("apply_patch", { patch: undo });
    writeFileSync(at("tree/new"), "");
    expect((await ws.fail("apply_patch", { patch: restored.undo! })).code).toBe("CONFLICT");
    expect(existsSync(at("tree/new"))).toBe(true);
  });

  test.skipIf(elsewhere && !hasOther)("is not restored over something else", async () => {
    fill();
    const { undo } = await ws.ok("rm", { uri: "tree", confirm: true, recursive: true });
    mkdirSync(at("tree"));
    expect((await ws.fail("apply_patch", { patch: undo })).code).toBe("ALREADY_EXISTS");
    expect(ws.names()).toEqual(["tree"]);
  });
});

test.skipIf(!existsSync("/dev/shm"))(
  "a pipe that cannot be kept on another file system is not removed",
  async () => {
    await ws.close();
    const stateHome = mkdtempSync("/dev/shm/octant-state-");
    ws = createEditWorkspace(stateHome);
    execFileSync("mkfifo", [at("pipe")]);
    if (statSync("/dev/shm").dev !== statSync(ws.root).dev)
      expect((await ws.fail("rm", { uri: "pipe", confirm: true })).code).toBe("UNSUPPORTED");
    expect(lstatSync(at("pipe")).isFIFO()).toBe(true);
    rmSync(stateHome, { recursive: true });
  },
);
