import { crc32, inflateRawSync } from "node:zlib";
import { expect } from "vitest";

/** Reads the directory at the end, like other programs, with every checksum. */
export function readZip(zip: Buffer): Map<string, { content: Buffer; text: string; mode: number }> {
  const end = zip.length - 22;
  expect(zip.readUInt32LE(end)).toBe(0x06054b50);
  let at = zip.readUInt32LE(end + 16);
  const files = new Map<string, { content: Buffer; text: string; mode: number }>();
  for (let count = zip.readUInt16LE(end + 10); count > 0; count--) {
    expect(zip.readUInt32LE(at)).toBe(0x02014b50);
    const nameBytes = zip.readUInt16LE(at + 28);
    const name = zip.toString("utf8", at + 46, at + 46 + nameBytes);
    const start = zip.readUInt32LE(at + 42);
    expect(zip.readUInt32LE(start)).toBe(0x04034b50);
    const from = start + 30 + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28);
    const content = inflateRawSync(zip.subarray(from, from + zip.readUInt32LE(at + 20)));
    expect(crc32(content)).toBe(zip.readUInt32LE(at + 16));
    expect(content.length).toBe(zip.readUInt32LE(at + 24));
    files.set(name, { content, text: content.toString(), mode: zip.readUInt16LE(at + 40) });
    at += 46 + nameBytes;
  }
  expect(at).toBe(end);
  return files;
}
