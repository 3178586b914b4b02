import { mkdtempSync, readdirSync, readSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Hash, ToolError } from "@octant/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hashOf } from "../hashes.ts";
import { createBlobs } from "./blobs.ts";
import { openBlob } from "./open-blob.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-blobs-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const query = (sql: string) => {
  const db = new DatabaseSync(file());
  const rows = db.prepare(sql).all();
  db.close();
  return rows;
};
const file = () => join(folder, "blobs.sqlite");
const makeOld = (hash: Hash, secondsAgo: number) =>
  query(`UPDATE blobs SET put_at = ${Date.now() - secondsAgo * 1000} WHERE hash = '${hash}'`);
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

test("equal bytes are stored once, in a private file, without a leftover temp file", () => {
  const [mine, theirs] = [createBlobs(folder), createBlobs(folder)];
  const hash = mine.put(Buffer.from("same"));
  expect(theirs.put(Buffer.from("same"), { durable: true })).toBe(hash);
  mine.putAll([{ hash, bytes: Buffer.from("same") }]);
  expect(query("SELECT hash FROM blobs")).toEqual([{ hash }]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  mine.close();
  theirs.close();
  expect(readdirSync(folder)).toEqual(["blobs.sqlite"]);
});

test("a blob is opened to read a part of it", () => {
  const blobs = createBlobs(folder);
  using blob = openBlob(blobs, blobs.put(Buffer.from("0123456789")), folder);
  const part = Buffer.alloc(3);
  readSync(blob.fd, part, 0, 3, 4);
  expect([blob.size, part.toString()]).toEqual([10, "456"]);
});

test("an unknown hash is NOT_FOUND", () => {
  const blobs = createBlobs(folder);
  const hash = hashOf(Buffer.from("never"));
  expect(blobs.has(hash)).toBe(false);
  expect(codeOf(() => blobs.get(hash))).toBe("NOT_FOUND");
  expect(codeOf(() => openBlob(blobs, hash, folder))).toBe("NOT_FOUND");
});

test("a corrupt blob is NOT_FOUND, and putting its bytes again repairs it", () => {
  const blobs = createBlobs(folder);
  const bytes = Buffer.from("precious");
  const hash = blobs.put(bytes);
  query("UPDATE blobs SET bytes = CAST('precioux' AS BLOB)");
  expect(codeOf(() => blobs.get(hash))).toBe("NOT_FOUND");
  expect(blobs.has(hash)).toBe(true);
  blobs.put(bytes);
  expect(blobs.get(hash)).toEqual(bytes);
});

test("a damaged file is moved aside, and the next blob is stored", () => {
  const before = createBlobs(folder);
  const hash = before.put(Buffer.from("lost"));
  before.close();
  writeFileSync(file(), Buffer.alloc(8_192, "x"));
  const blobs = createBlobs(folder);
  expect(codeOf(() => blobs.get(hash))).toBe("NOT_FOUND");
  expect(blobs.get(blobs.put(Buffer.from("found"))).toString()).toBe("found");
  expect(readdirSync(folder)).toContainEqual(expect.stringMatching(/^blobs\.sqlite\.damaged-/));
});

test("above the limit the least recently put blobs are removed, and those put again stay", () => {
  const blobs = createBlobs(folder, 1_000_000);
  const hashes = Array.from({ length: 18 }, (_, i) => blobs.put(Buffer.alloc(50_000, i)));
  for (const [i, hash] of hashes.entries()) makeOld(hash, 10_000 - i);
  blobs.put(Buffer.alloc(50_000, 0));
  for (let i = 0; i < 4; i++) blobs.put(Buffer.alloc(50_000, 100 + i));
  expect(blobs.has(hashes[0]!)).toBe(true);
  expect(blobs.has(hashes[1]!)).toBe(false);
  expect(Number(query("SELECT sum(size) AS bytes FROM blobs")[0]?.["bytes"])).toBeLessThan(1_000_000);
});

test("a recently put blob is never removed, whatever the limit", () => {
  const blobs = createBlobs(folder, 1_000);
  const old = blobs.put(Buffer.alloc(900, 1));
  makeOld(old, 10_000);
  const fresh = Array.from({ length: 5 }, (_, i) => blobs.put(Buffer.alloc(900, i + 2)));
  expect(blobs.has(old)).toBe(false);
  expect(fresh.every((hash) => blobs.has(hash))).toBe(true);
});
