import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { hashOf } from "@octant/host";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createReadingFixture, type ReadingFixture } from "../../testing/fs/reading-fixture.ts";

let at: ReadingFixture;

beforeEach(() => {
  at = createReadingFixture();
});
afterEach(() => at[Symbol.dispose]());

test("a file has kind, size, hash, time and mode", async () => {
  const path = at.put("run.sh", "#!/bin/sh\n");
  chmodSync(path, 0o755);
  utimesSync(path, 1e9, 1e9);
  expect(await at.fs.stat({ uri: "run.sh" })).toEqual({
    uri: `file://${at.root}/run.sh`,
    kind: "file",
    size: 10,
    hash: hashOf(Buffer.from("#!/bin/sh\n")),
    mtime: "2001-09-09T01:46:40.000Z",
    mode: "0755",
  });
});

test("folders, pipes and the root have no hash", async () => {
  mkdirSync(join(at.root, "folder"));
  execFileSync("mkfifo", [join(at.root, "pipe")]);
  for (const [uri, kind] of [
    ["folder", "directory"],
    ["pipe", "fifo"],
    [".", "directory"],
  ] as const) {
    const data = await at.fs.stat({ uri });
    expect([data.kind, data.hash]).toEqual([kind, undefined]);
  }
});

test("a link shows its target inside the workspace, but never one outside", async () => {
  at.put("sub/file", "x");
  symlinkSync("sub/file", join(at.root, "inside"));
  symlinkSync("/etc/passwd", join(at.root, "outside"));
  symlinkSync("sub/missing", join(at.root, "broken"));
  symlinkSync("/nowhere/at/all", join(at.root, "broken-outside"));
  symlinkSync("/etc", join(at.root, "etc"));
  symlinkSync("etc/no-such-file", join(at.root, "through"));
  symlinkSync("circle", join(at.root, "circle"));
  const link = async (uri: string) => {
    const { kind, target, outside, broken } = await at.fs.stat({ uri });
    return { kind, target: target?.slice(`file://${at.root}/`.length), outside, broken };
  };
  const kind = "symlink";
  expect(await link("inside")).toEqual({ kind, target: "sub/file" });
  expect(await link("outside")).toEqual({ kind, outside: true });
  expect(await link("broken")).toEqual({ kind, target: "sub/missing", broken: true });
  expect(await link("broken-outside")).toEqual({ kind, outside: true });
  expect(await link("through")).toEqual({ kind, outside: true });
  expect(await link("circle")).toEqual({ kind, target: "circle", broken: true });
});

test.each(["stat", "list"])("%s says of a ref that only read takes one", async (action) => {
  const { envelope } = await at.call(action, { uri: `blob:sha256:${"0".repeat(64)}` });
  expect(envelope.error).toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringContaining("fs.read"),
  });
});

test("a missing path or one outside is refused", async () => {
  expect(await at.failure("stat", { uri: "nothing" })).toBe("NOT_FOUND");
  expect(await at.failure("stat", { uri: "/etc/passwd" })).toBe("OUTSIDE_WORKSPACE");
});

const makeSparse = (name: string, size: number) => {
  const fd = openSync(at.put(name, ""), "r+");
  ftruncateSync(fd, size);
  closeSync(fd);
};

test("a big file is hashed without blocking other calls", async () => {
  makeSparse("big", 64 * 1024 * 1024);
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const { hash } = await at.fs.stat({ uri: "big" });
  clearInterval(timer);
  const expected = execFileSync("sha256sum", [join(at.root, "big")], { encoding: "utf8" });
  expect(hash).toBe(`sha256:${expected.slice(0, 64)}`);
  expect(turns).toBeGreaterThan(3);
});

test("a file above 256 MiB is not hashed, even when sparse", async () => {
  makeSparse("huge", 2 ** 40);
  expect(await at.fs.stat({ uri: "huge" })).toMatchObject({ size: 2 ** 40, hash: null });
});

test("long hashing reports its progress, and ends when cancelled", async () => {
  makeSparse("big", 256 * 1024 * 1024);
  let seconds = 0;
  vi.spyOn(performance, "now").mockImplementation(() => 1_000 * seconds++);
  const abort = new AbortController();
  const { envelope } = await at.call(
    "stat",
    { uri: "big" },
    { signal: abort.signal, onProgress: ({ progress }) => progress > 0 && abort.abort() },
  );
  vi.restoreAllMocks();
  expect(envelope.error?.code).toBe("CANCELLED");
});
