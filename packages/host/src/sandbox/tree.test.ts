import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { lstatOf } from "./tree.ts";

const ROUNDS = 300;
const SERVERS = 2;

/** Each server mounts the same places in the same new folder; all of them start each round together. */
const SERVER = `
import { parentPort, workerData } from "node:worker_threads";
const { base, rounds, servers, shared, module } = workerData;
const { createTree } = await import(module);
const arrived = new Int32Array(shared);
const failures = [];
for (let round = 0; round < rounds; round++) {
  Atomics.add(arrived, round, 1);
  while (Atomics.load(arrived, round) < servers);
  try {
    const tree = createTree();
    tree.add({ kind: "write", source: base + "/" + round, at: "/home/me" }, { kept: true });
    tree.add({ kind: "read", source: "/etc", at: "/home/me/folder" });
    tree.add({ kind: "read", source: "/etc/passwd", at: "/home/me/file" });
    tree.add({ kind: "read", source: "/etc/passwd", at: "/home/me/swapped" });
  } catch (cause) { failures.push(String(cause)); }
}
parentPort.postMessage(failures);
`;

test("servers that make the same mount points at the same time do not fail", async () => {
  const base = mkdtempSync(join(tmpdir(), "octant-tree-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  for (let round = 0; round < ROUNDS; round++) {
    mkdirSync(join(base, String(round)));
    symlinkSync("/etc", join(base, String(round), "swapped"));
  }
  const workerData = {
    base,
    rounds: ROUNDS,
    servers: SERVERS,
    shared: new SharedArrayBuffer(4 * ROUNDS),
    module: new URL("./tree.ts", import.meta.url).href,
  };
  const source = new URL(`data:text/javascript,${encodeURIComponent(SERVER)}`);
  const outcomes = Array.from({ length: SERVERS }, () => {
    const ended = Promise.withResolvers<unknown>();
    new Worker(source, { workerData }).once("message", ended.resolve).once("error", ended.reject);
    return ended.promise;
  });
  expect(await Promise.all(outcomes)).toEqual([[], []]);
  for (let round = 0; round < ROUNDS; round++) {
    expect(lstatOf(join(base, String(round), "folder"))?.isDirectory()).toBe(true);
    expect(lstatOf(join(base, String(round), "file"))?.isFile()).toBe(true);
    expect(lstatOf(join(base, String(round), "swapped"))?.isFile()).toBe(true);
  }
});
