import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChangeListener, createWorkspace } from "@octant/host";
import { expect, onTestFinished, test } from "vitest";
import { followFileList } from "./file-list.ts";

/** A project whose changes the test reports explicitly. */
async function followProject() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-file-list-")));
  const root = join(base, "project");
  for (const folder of ["src", "dist"]) mkdirSync(join(root, folder), { recursive: true });
  const write = (name: string, text = "") => writeFileSync(join(root, name), text);
  for (const name of ["src/a.ts", "src/b.ts"]) write(name);
  write(".ignore", "dist/\n");
  const env = { HOME: base, PATH: process.env["PATH"] ?? "" };
  const { files, confinement, close } = createWorkspace({ roots: [root], env, warn: () => {} });
  const listeners = new Set<ChangeListener>();
  const watcher = {
    ready: () => Promise.resolve(),
    onChange(listener: ChangeListener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  let listed = Promise.withResolvers<void>();
  const list: typeof files.list = async (...given) => {
    const page = await files.list(...given);
    listed.resolve();
    return page;
  };
  let reports = 0;
  const stop = followFileList(
    { files: { list }, confinement, watcher, settleMs: 0, pauseMs: 0 },
    () => reports++,
  );
  onTestFinished(async () => {
    stop();
    await close();
    rmSync(base, { recursive: true });
  });
  const nextLook = async () => {
    await listed.promise;
    listed = Promise.withResolvers();
    // The rest needs only promises.
    await new Promise(setImmediate);
  };
  await nextLook();
  /** Whether a change of this path is reported as a change of the list. */
  const isReported = async (name: string) => {
    const before = reports;
    for (const listener of listeners) listener([join(root, name)]);
    await nextLook();
    return reports > before;
  };
  return { root, write, stop, listeners, isTold: isReported };
}

test("a file that appears or disappears is reported, alone or with its folder", async () => {
  const { root, write, isTold } = await followProject();
  write("src/odd [name] #1 .ts");
  expect(await isTold("src/odd [name] #1 .ts")).toBe(true);
  rmSync(join(root, "src/a.ts"));
  expect(await isTold("src/a.ts")).toBe(true);
  renameSync(join(root, "src"), join(root, "dist/src"));
  expect(await isTold("src")).toBe(true);
  expect(await isTold("src")).toBe(false);
});

test("a write, an ignored file, or a file that disappears before it was seen is not reported", async () => {
  const { write, isTold } = await followProject();
  write("src/a.ts", "more");
  expect(await isTold("src/a.ts")).toBe(false);
  write("dist/made.js");
  expect(await isTold("dist/made.js")).toBe(false);
  expect(await isTold("src/.temporary")).toBe(false);
});

test("nothing is watched after unsubscribing", async () => {
  const { stop, listeners } = await followProject();
  expect(listeners.size).toBe(1);
  stop();
  expect(listeners.size).toBe(0);
});
