import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Hash, ToolError } from "@octant/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hashOf } from "../hashes.ts";
import { createBlobs } from "./blobs.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-blobs-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const pathOf = (hash: Hash) => join(folder, hash.slice(7, 9), hash.slice(9));
const files = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
const totalSize = () =>
  files().reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
const makeOld = (hash: Hash, secondsAgo: number) => {
  const then = Date.now() / 1000 - secondsAgo;
  utimesSync(pathOf(hash), then, then);
};
const codeOf = (run: () => unknown) => {
  try {
    run();
    return "none";
  } catch (error) {
    return error instanceof ToolError ? error.code : String(error);
  }
};

test.each([{ durable: false }, { durable: true }])("stored bytes can be read back (%o)", (options) => {
  const blobs = createBlobs(folder);
  for (const bytes of [Buffer.from("hello"), Buffer.alloc(0), Buffer.alloc(100_000, 7)]) {
    const hash = blobs.put(bytes, options);
    expect(hash).toBe(hashOf(bytes));
    expect(blobs.has(hash)).toBe(true);
    expect(blobs.get(hash)).toEqual(bytes);
  }
});

test("equal bytes are stored once, in a shard, private, without a leftover temp file", () => {
  const hash = createBlobs(folder, { smallBytes: 0 }).put(Buffer.from("same"));
  expect(createBlobs(folder, { smallBytes: 0 }).put(Buffer.from("same"), { durable: true })).toBe(hash);
  expect(files().map(({ parentPath, name }) => join(parentPath, name))).toEqual([pathOf(hash)]);
  expect(statSync(pathOf(hash)).mode & 0o777).toBe(0o600);
});

test("a blob is opened to read a part of it", () => {
  const blobs = createBlobs(folder, { smallBytes: 0 });
  using blob = blobs.open(blobs.put(Buffer.from("0123456789")));
  const part = Buffer.alloc(3);
  readSync(blob.fd, part, 0, 3, 4);
  expect([blob.size, part.toString()]).toEqual([10, "456"]);
});

test("an unknown hash is NOT_FOUND", () => {
  const blobs = createBlobs(folder, { smallBytes: 0 });
  const hash = hashOf(Buffer.from("never"));
  expect(blobs.has(hash)).toBe(false);
  expect(codeOf(() => blobs.get(hash))).toBe("NOT_FOUND");
  expect(codeOf(() => blobs.open(hash))).toBe("NOT_FOUND");
});

test("a corrupt blob is NOT_FOUND, and putting its bytes again repairs it", () => {
  const blobs = createBlobs(folder, { smallBytes: 0 });
  const bytes = Buffer.from("precious");
  const hash = blobs.put(bytes);
  writeFileSync(pathOf(hash), "precioux");
  expect(codeOf(() => blobs.get(hash))).toBe("NOT_FOUND");
  blobs.put(bytes);
  expect(blobs.get(hash)).toEqual(bytes);
});

test("old temp files of a killed process are removed, recent ones are not", () => {
  mkdirSync(join(folder, "tmp"));
  writeFileSync(join(folder, "tmp/old"), "x");
  writeFileSync(join(folder, "tmp/young"), "x");
  const then = Date.now() / 1000 - 7200;
  utimesSync(join(folder, "tmp/old"), then, then);
  createBlobs(folder, { smallBytes: 0 });
  expect(readdirSync(join(folder, "tmp"))).toEqual(["young"]);
});

test("above the cap the least recently put blobs are evicted, and those put again stay", async () => {
  const blobs = createBlobs(folder, { smallBytes: 0, maxBytes: 100_000 });
  const hashes = Array.from({ length: 18 }, (_, i) => blobs.put(Buffer.alloc(5_000, i)));
  for (const [i, hash] of hashes.entries()) makeOld(hash, 10_000 - i);
  blobs.put(Buffer.alloc(5_000, 0));
  blobs.put(Buffer.alloc(30_000, 99));
  await expect.poll(totalSize).toBeLessThanOrEqual(100_000);
  await expect.poll(() => blobs.has(hashes[5] as Hash)).toBe(false);
  expect(blobs.has(hashes[0] as Hash)).toBe(true);
  expect(hashes.slice(1, 6).map((hash) => blobs.has(hash))).toEqual(Array(5).fill(false));
  expect(hashes.slice(-8).map((hash) => blobs.has(hash))).toEqual(Array(8).fill(true));
  expect(readdirSync(join(folder, "tmp"))).toEqual([]);
});

test("a recently put blob is never collected, whatever the cap", async () => {
  const blobs = createBlobs(folder, { smallBytes: 0, maxBytes: 1_000 });
  const old = blobs.put(Buffer.alloc(900, 1));
  makeOld(old, 10_000);
  const fresh = Array.from({ length: 5 }, (_, i) => blobs.put(Buffer.alloc(900, i + 2)));
  await expect.poll(() => existsSync(pathOf(old))).toBe(false);
  expect(fresh.every((hash) => blobs.has(hash))).toBe(true);
});
