import { randomBytes } from "node:crypto";
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { openOutput, orderOutput } from "./output-ref.ts";
import { createSpool, openSpool, type SpoolCaps } from "./spool.ts";

const MEBIBYTE = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), "octant-spool-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function createPair(caps: SpoolCaps) {
  const path = join(folder, `spool${files++}`);
  return { path, writer: createSpool(caps, () => openSync(path, "wx")), reader: openSpool(path, caps) };
}

/** Different at every place, so that a byte in the wrong place is seen. */
const bytesAt = (from: number, length: number) =>
  Buffer.from(Array.from({ length }, (_, i) => ((from + i) * 31 + ((from + i) >> 8)) & 0xff));

test("small output is a plain file with nothing else", () => {
  const { path, writer, reader } = createPair({ head: 8, tail: 8 });
  writer.write(Buffer.from("hello "));
  writer.write(Buffer.from("world"));
  expect(readFileSync(path, "utf8")).toBe("hello world");
  expect(reader.total()).toBe(11);
  expect(reader.gap()).toBeUndefined();
});

test("a spool that was never written is empty", () => {
  const { reader } = createPair({ head: 8, tail: 8 });
  expect(reader.total()).toBe(0);
  expect(reader.read(0, 10)).toEqual({ start: 0, bytes: Buffer.alloc(0) });
});

test("head and tail are right after every write, whatever the sizes of writes, reads and caps", () => {
  const caps = fc.record({ head: fc.integer({ min: 0, max: 20 }), tail: fc.integer({ min: 1, max: 20 }) });
  const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 12 });
  const place = fc.record({ offset: fc.nat(300), length: fc.nat(60) });
  fc.assert(
    fc.property(caps, sizes, fc.array(place, { maxLength: 5 }), (limits, writes, reads) => {
      const { writer, reader } = createPair(limits);
      let total = 0;
      for (const size of writes) {
        writer.write(bytesAt(total, size));
        total += size;
        expect(reader.total()).toBe(total);
        const kept = limits.head + limits.tail;
        expect(reader.gap()).toEqual(
          total > kept ? { start: limits.head, end: total - limits.tail } : undefined,
        );
        for (const { offset, length } of reads) {
          const part = reader.read(offset, length);
          expect(part.bytes).toEqual(bytesAt(part.start, part.bytes.length));
          expect(part.bytes.length).toBeLessThanOrEqual(length);
        }
        expect(readToEnd(reader)).toEqual(keptOf(total, limits));
      }
      writer.close();
    }),
    { numRuns: 150 },
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

const keptOf = (total: number, { head, tail }: SpoolCaps) =>
  Array.from({ length: total }, (_, i) => i).filter(
    (i) => i < head || i >= total - tail || total <= head + tail,
  );

test("as a ref, a line marks the missing part", async () => {
  const caps = { head: 4, tail: 4 };
  const { path, writer } = createPair(caps);
  writer.write(Buffer.from("aaaabbbbbbbbbbcccc"));
  using early = openOutput(path, caps);
  expect(readFileSync(`/proc/self/fd/${early.fd}`, "utf8")).toBe(
    "aaaa\n[10 bytes of output are not stored, or not available while more arrives]\ncccc",
  );
  await orderOutput(path, caps);
  using output = openOutput(path, caps);
  expect(readFileSync(`/proc/self/fd/${output.fd}`, "utf8")).toBe(
    "aaaa\n[10 bytes of output are not stored]\ncccc",
  );
});

test("of output that still comes a ref copies no more than its beginning and its end", () => {
  const caps = { head: 4 * MEBIBYTE, tail: 4 * MEBIBYTE };
  const { path, writer } = createPair(caps);
  for (let i = 0; i < 9; i++) writer.write(Buffer.alloc(MEBIBYTE, String(i)));
  using output = openOutput(path, caps);
  expect(output.size).toBeLessThan(2 * MEBIBYTE + 200);
  const text = readFileSync(`/proc/self/fd/${output.fd}`, "utf8");
  expect(text).toMatch(
    /^0+\n\[7340032 bytes of output are not stored, or not available while more arrives\]\n8+$/,
  );
});

test("ordering output goes over parts of any size, across the end of the ring", async () => {
  const caps = { head: 3 * MEBIBYTE + 5, tail: 2 * MEBIBYTE + 7 };
  const { path, writer } = createPair(caps);
  const all = randomBytes(9 * MEBIBYTE + 11);
  for (let at = 0; at < all.length; at += 300_001) writer.write(all.subarray(at, at + 300_001));
  await orderOutput(path, caps);
  using output = openOutput(path, caps);
  const bytes = readFileSync(`/proc/self/fd/${output.fd}`);
  const note = `\n[${all.length - caps.head - caps.tail} bytes of output are not stored]\n`;
  const expected = [all.subarray(0, caps.head), Buffer.from(note), all.subarray(all.length - caps.tail)];
  expect(bytes.equals(Buffer.concat(expected))).toBe(true);
});

test("a full disk stops the storing, not the counting", () => {
  const spool = createSpool({ head: 8, tail: 8 }, () => openSync(join(folder, "no", "such"), "wx"));
  spool.write(Buffer.from("lost"));
  expect(spool).toMatchObject({ total: 4, failure: "ENOENT" });
});
