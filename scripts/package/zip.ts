import { crc32, deflateRawSync } from "node:zlib";

export interface ZipFile {
  /** With slashes between folders. */
  readonly name: string;
  /** The permission bits. */
  readonly mode: number;
  readonly content: Buffer;
}

const MAX_BYTES = 0xffff_ffff;
const MAX_FILES = 0xffff;
const VERSION = 20;
const MADE_ON_UNIX = 3 << 8;
const NAMES_ARE_UTF8 = 1 << 11;
const DEFLATED = 8;
const REGULAR_FILE = 0o100000;
/** The earliest date in a zip: the same files always produce the same bytes. */
const DATE = (1 << 5) | 1;

/** A standard zip file, without the extension for more than four gigabytes. */
export function encodeZip(files: readonly ZipFile[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, mode, content } of files) {
    const packed = deflateRawSync(content);
    const fields = fieldsOf(name, content, packed);
    const body = Buffer.concat([signature(0x0403_4b50), fields, Buffer.from(name), packed]);
    directory.push(
      signature(0x0201_4b50),
      uint16(MADE_ON_UNIX | VERSION),
      fields,
      // No comment, first disk, not known to be text.
      Buffer.alloc(6),
      uint32(((REGULAR_FILE | mode) << 16) >>> 0),
      uint32(offset),
      Buffer.from(name),
    );
    bodies.push(body);
    offset += body.length;
  }
  const listing = Buffer.concat(directory);
  if (files.length > MAX_FILES || offset + listing.length > MAX_BYTES)
    throw new RangeError("too much for one zip file");
  return Buffer.concat([
    ...bodies,
    listing,
    signature(0x0605_4b50),
    Buffer.alloc(4),
    uint16(files.length),
    uint16(files.length),
    uint32(listing.length),
    uint32(offset),
    uint16(0),
  ]);
}

/** The fields shared by the local header and the directory. */
const fieldsOf = (name: string, content: Buffer, packed: Buffer): Buffer =>
  Buffer.concat([
    uint16(VERSION),
    uint16(NAMES_ARE_UTF8),
    uint16(DEFLATED),
    uint16(0),
    uint16(DATE),
    uint32(crc32(content)),
    uint32(packed.length),
    uint32(content.length),
    uint16(Buffer.byteLength(name)),
    uint16(0),
  ]);

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

const signature = uint32;
