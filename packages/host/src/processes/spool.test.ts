import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { openOutput } from "./output-ref.ts";
import { openSpool, type SpoolCaps, SpoolWriter } from "./spool.ts";

const MEBIBYTE = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), "octant-spool-"));
afterAll(() => rmSync(folder, { recursive: true }));

function createPair(caps: SpoolCaps) {
  const path = join(mkdtempSync(join(folder, "spool-")), "stdout");
  return { path, writer: new SpoolWriter(path, caps), reader: openSpool(path, caps) };
}

/** Different at every place, so that a byte in the wrong place is seen. */
const bytesAt = (from: number, length: number) =>
  Buffer.from(Array.from({ length }, (_, i) => ((from + i) * 31 + ((from + i) >> 8)) & 0xff));

test("small output is a plain file with nothing else", () => {
  const { path, writer, reader } = createPair({ head: 16, tail: 8 });
  writer.write(Buffer.from("hello "));
  writer.write(Buffer.from("world"));
  expect(readFileSync(path, "utf8")).toBe("hello world");
  expect(reader.total()).toBe(11);
  expect(reader.isPlain()).toBe(true);
});

test("a spool that was never written is empty", () => {
  const { reader } = createPair({ head: 8, tail: 8 });
  expect(reader.total()).toBe(0);
  expect(reader.read(0, 10)).toEqual({ start: 0, bytes: Buffer.alloc(0) });
});

test("head and tail are right after every write, whatever the sizes of writes, reads and caps", () => {
  const caps = fc.record({ head: fc.integer({ min: 1, max: 20 }), tail: fc.integer({ min: 1, max: 20 }) });
  const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 12 });
  const place = fc.record({ offset: fc.nat(300), length: fc.nat(60) });
  fc.assert(
    fc.property(caps, sizes, fc.array(place, { maxLength: 5 }), (limits, writes, reads) => {
      const { path, writer, reader } = createPair(limits);
      let total = 0;
      for (const size of writes) {
        writer.write(bytesAt(total, size));
        total += size;
        expect(reader.total()).toBe(total);
        const stored = storedOf(total, limits);
        for (const { offset, length } of reads) {
          const part = reader.read(offset, length);
          expect(part.bytes).toEqual(bytesAt(part.start, part.bytes.length));
          const wanted = stored.filter((at) => at >= part.start && at < part.start + length);
          const hole = wanted.findIndex((at, index) => at !== part.start + index);
          expect(part.bytes.length).toBe(hole < 0 ? wanted.length : hole);
        }
        expect(readToEnd(reader)).toEqual(stored);
      }
      writer.close();
      expect(readdirSync(dirname(path)).length).toBeLessThanOrEqual(3);
    }),
    { numRuns: 60 },
  );
});

function readToEnd(reader: ReturnType<typeof openSpool>): number[] {
  const places: number[] = [];
  for (let at = 0; ; ) {
    const { start, bytes } = reader.read(at, 7);
    if (bytes.length === 0) return places;
    for (let i = 0; i < bytes.length; i++) places.push(start + i);
    at = start + bytes.length;
  }
}

/** The head, and of the rest the last segment and the one before it. */
const storedOf = (total: number, { head, tail }: SpoolCaps) => {
  const last = Math.floor((total - 1 - head) / tail);
  return Array.from({ length: total }, (_, at) => at).filter(
    (at) => at < head || (at - head) / tail >= last - 1,
  );
};

test("as a ref, a line marks the missing part, across files and parts of any size", () => {
  const caps = { head: 3 * MEBIBYTE + 5, tail: 2 * MEBIBYTE + 7 };
  const { path, writer } = createPair(caps);
  const all = randomBytes(12 * MEBIBYTE + 11);
  for (let at = 0; at < all.length; at += 300_001) writer.write(all.subarray(at, at + 300_001));
  using output = openOutput(path, caps);
  const bytes = readFileSync(`/proc/self/fd/${output.fd}`);
  const resumes = caps.head + 3 * caps.tail;
  const note = `\n[${resumes - caps.head} bytes of output are not stored]\n`;
  const expected = [all.subarray(0, caps.head), Buffer.from(note), all.subarray(resumes)];
  expect(bytes.equals(Buffer.concat(expected))).toBe(true);
  expect(output.size).toBe(bytes.length);
});

test("a full disk stops the storing, not the counting", () => {
  const spool = new SpoolWriter(join(folder, "no", "such"), { head: 8, tail: 8 });
  spool.write(Buffer.from("lost"));
  expect(spool).toMatchObject({ total: 4, failure: "ENOENT" });
});
