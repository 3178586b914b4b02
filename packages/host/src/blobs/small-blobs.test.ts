import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hashOf } from "../hashes.ts";
import { createSmallBlobs, SMALL_BLOB_BYTES } from "./small-blobs.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-small-blobs-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (blobs: ReturnType<typeof createSmallBlobs>, bytes: Uint8Array) => {
  blobs.put([{ hash: hashOf(bytes), bytes }], false);
  return hashOf(bytes);
};
const file = () => join(folder, "small");

test("stored bytes can be read back, by this process and by another that shares the folder", () => {
  const [mine, theirs] = [createSmallBlobs(folder), createSmallBlobs(folder)];
  for (const bytes of [Buffer.from("a"), Buffer.alloc(0), Buffer.alloc(SMALL_BLOB_BYTES, 7)]) {
    const hash = put(mine, bytes);
    expect(mine.get(hash)).toEqual(bytes);
    expect(theirs.get(hash)).toEqual(bytes);
  }
  const hash = put(theirs, Buffer.from("theirs"));
  expect(mine.get(hash)?.toString()).toBe("theirs");
  mine.close();
  theirs.close();
});

test("equal bytes are stored once, and only the owner can read the file", () => {
  const blobs = createSmallBlobs(folder);
  put(blobs, Buffer.from("same"));
  const { size } = statSync(file());
  put(blobs, Buffer.from("same"));
  expect(statSync(file())).toMatchObject({ size, mode: 0o100600 });
  blobs.close();
});

test("several are added at once, equal ones once, also after another process has added some", () => {
  const [mine, theirs] = [createSmallBlobs(folder), createSmallBlobs(folder)];
  const contents = ["one", "two", "one", ""].map((text) => Buffer.from(text));
  put(mine, Buffer.from("mine"));
  put(theirs, Buffer.from("theirs"));
  mine.put(
    contents.map((bytes) => ({ hash: hashOf(bytes), bytes })),
    true,
  );
  for (const text of ["one", "two", "", "mine", "theirs"])
    for (const blobs of [mine, theirs]) expect(blobs.get(hashOf(Buffer.from(text)))?.toString()).toBe(text);
  expect(readFileSync(file(), "latin1").match(/one/g)).toHaveLength(1);
  mine.close();
  theirs.close();
});

test("after any damage wrong bytes are never returned, and later additions are", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 60 }), { minLength: 1, maxLength: 6 }),
      fc.nat(),
      fc.oneof(fc.constant("cut" as const), fc.integer({ min: 0, max: 255 })),
      (contents, place, damage) => {
        rmSync(file(), { force: true });
        const writer = createSmallBlobs(folder);
        const hashes = contents.map((bytes) => put(writer, bytes));
        writer.close();
        const bytes = readFileSync(file());
        const at = place % bytes.length;
        if (damage === "cut") writeFileSync(file(), bytes.subarray(0, at));
        else writeFileSync(file(), bytes.fill(damage, at, at + 1));
        const reader = createSmallBlobs(folder);
        for (const [i, hash] of hashes.entries())
          expect([undefined, Buffer.from(contents[i] as Uint8Array)]).toContainEqual(reader.get(hash));
        const later = put(reader, Buffer.alloc(SMALL_BLOB_BYTES, 9));
        expect(reader.get(later)?.length).toBe(SMALL_BLOB_BYTES);
        reader.close();
        const another = createSmallBlobs(folder);
        expect(another.get(later)?.length).toBe(SMALL_BLOB_BYTES);
        another.close();
      },
    ),
  );
});

test("bytes changed after they were located are not returned", () => {
  const blobs = createSmallBlobs(folder);
  const hash = put(blobs, Buffer.from("right"));
  expect(blobs.get(hash)?.toString()).toBe("right");
  const bytes = readFileSync(file());
  const fd = openSync(file(), "r+");
  writeSync(fd, "wrong", bytes.indexOf("right"));
  closeSync(fd);
  expect(blobs.get(hash)).toBeUndefined();
  blobs.close();
});

test("a file full of record headers does not hide a later record", () => {
  appendFileSync(file(), Buffer.concat(Array.from({ length: 3000 }, () => Buffer.from("OCTb\0\0\x10\0"))));
  const blobs = createSmallBlobs(folder);
  const hash = put(blobs, Buffer.from("found"));
  put(blobs, Buffer.alloc(SMALL_BLOB_BYTES, 1));
  put(blobs, Buffer.alloc(SMALL_BLOB_BYTES, 2));
  expect(blobs.get(hash)?.toString()).toBe("found");
  blobs.close();
});

test("a full file becomes the old generation, and the previous one is removed", () => {
  const blobs = createSmallBlobs(folder, 1000);
  const hashes = Array.from({ length: 60 }, (_, i) => put(blobs, Buffer.alloc(100, i)));
  expect(blobs.get(hashes[0] as string)).toBeUndefined();
  for (const hash of hashes.slice(-8)) expect(blobs.get(hash)).toBeDefined();
  expect(statSync(file()).size).toBeLessThan(1200);
  blobs.close();
});
