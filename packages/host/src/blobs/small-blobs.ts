import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Hash } from "@octant/core";
import { hashOf } from "../hashes.ts";
import type { Blob } from "./blobs.ts";

/** Creating a file costs a hundred times as much as appending to one, so small blobs share one. */
export const SMALL_BLOB_BYTES = 16 * 1024;

/** Two generations of this size are retained. */
const MAX_PACK_BYTES = 64 * 1024 * 1024;

export interface SmallBlobs {
  put(blobs: readonly Blob[], durable: boolean): void;
  get(hash: Hash): Buffer | undefined;
  close(): void;
}

/**
 * One append-only file, written by all processes at once: a write in append mode is never interleaved with another.
 * Each blob follows its hash, so that a torn one is recognised. A full file becomes the old generation.
 */
export function createSmallBlobs(folder: string, maxBytes = MAX_PACK_BYTES): SmallBlobs {
  const current = createPack(join(folder, "small"));
  const old = createPack(join(folder, "small.old"));

  return {
    put(blobs, durable) {
      let state = current.make();
      const missing = uniqueByHash(blobs).filter(({ hash }) => current.read(state, hash) === undefined);
      if (missing.length > 0) {
        if (state.size > maxBytes) {
          renameSync(current.path, old.path);
          state = current.make();
        }
        current.add(state, missing);
      }
      if (durable) fdatasyncSync(state.fd);
    },
    get: (hash) => current.find(hash) ?? old.find(hash),
    close() {
      current.close();
      old.close();
    },
  };
}

const uniqueByHash = (blobs: readonly Blob[]): Blob[] => [
  ...new Map(blobs.map((blob) => [blob.hash, blob])).values(),
];

const MAGIC = Buffer.from("OCTb");
const LENGTH_BYTES = 4;
const DIGEST_BYTES = 32;
const HEADER_BYTES = MAGIC.length + LENGTH_BYTES + DIGEST_BYTES;
const SCAN_BYTES = 1024 * 1024;

interface Place {
  readonly at: number;
  readonly length: number;
}

/** A recent state of a pack. */
interface PackState {
  readonly fd: number;
  readonly size: number;
}

/** A file of blobs and an index of its content. Other processes append to it, and may replace it. */
function createPack(path: string) {
  let fd: number | undefined;
  let ino = 0;
  let scanned = 0;
  let places = new Map<string, Place>();

  const close = () => {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
    scanned = 0;
    places = new Map();
  };
  /** The current file at the path; undefined when there is none. */
  const look = (): PackState | undefined => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (fd !== undefined && found?.ino === ino) return { fd, size: found.size };
    close();
    return found && make();
  };
  const make = (): PackState => {
    const { O_RDWR, O_CREAT, O_APPEND } = constants;
    fd = openSync(path, O_RDWR | O_CREAT | O_APPEND, 0o600);
    const stat = fstatSync(fd);
    ({ ino } = stat);
    return { fd, size: stat.size };
  };
  const scan = ({ fd, size }: PackState) => {
    while (size - scanned >= HEADER_BYTES) {
      const chunk = Buffer.alloc(Math.min(SCAN_BYTES, size - scanned));
      const bytes = chunk.subarray(0, readSync(fd, chunk, 0, chunk.length, scanned));
      const passed = readRecords(bytes, scanned, places);
      if (passed === 0) return;
      scanned += passed;
    }
  };
  const readKnown = ({ fd }: PackState, hash: Hash): Buffer | undefined => {
    const place = places.get(hash);
    if (!place) return undefined;
    const bytes = Buffer.alloc(place.length);
    const whole = readSync(fd, bytes, 0, place.length, place.at) === place.length;
    return whole && hashOf(bytes) === hash ? bytes : undefined;
  };
  const read = (state: PackState, hash: Hash): Buffer | undefined => {
    const known = readKnown(state, hash);
    if (known || state.size === scanned) return known;
    scan(state);
    return readKnown(state, hash);
  };

  return {
    path,
    make: () => look() ?? make(),
    read,
    find(hash: Hash): Buffer | undefined {
      const state = look();
      return state && read(state, hash);
    },
    add({ fd, size }: PackState, blobs: readonly Blob[]) {
      const records = Buffer.concat(blobs.flatMap((blob) => [headerOf(blob), blob.bytes]));
      if (writeSync(fd, records) !== records.length) throw noSpace();
      // The offsets are known when nobody else has written since the last scan; otherwise the next scan finds them.
      if (size !== scanned || fstatSync(fd).size !== size + records.length) return;
      for (const { hash, bytes } of blobs) {
        places.set(hash, { at: scanned + HEADER_BYTES, length: bytes.length });
        scanned += HEADER_BYTES + bytes.length;
      }
    },
    close,
  };
}

function headerOf({ hash, bytes }: Blob): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32BE(bytes.length, MAGIC.length);
  header.write(hash.slice("sha256:".length), MAGIC.length + LENGTH_BYTES, "hex");
  return header;
}

/** Indexes the records in the bytes and returns where they end; torn ones are skipped. */
function readRecords(bytes: Buffer, offset: number, places: Map<string, Place>): number {
  let at = 0;
  while (bytes.length - at >= HEADER_BYTES) {
    const start = bytes.indexOf(MAGIC, at);
    if (start === -1) return bytes.length - MAGIC.length + 1;
    const length = bytes.length - start >= HEADER_BYTES ? bytes.readUInt32BE(start + MAGIC.length) : 0;
    if (length > SMALL_BLOB_BYTES) {
      at = start + 1;
      continue;
    }
    if (start + HEADER_BYTES + length > bytes.length) return start > 0 ? start : tornTail(bytes);
    const digest = bytes.subarray(start + MAGIC.length + LENGTH_BYTES, start + HEADER_BYTES);
    const content = bytes.subarray(start + HEADER_BYTES, start + HEADER_BYTES + length);
    const hash = `sha256:${digest.toString("hex")}`;
    if (hashOf(content) === hash) {
      places.set(hash, { at: offset + start + HEADER_BYTES, length });
      at = start + HEADER_BYTES + length;
    } else at = start + 1;
  }
  return at;
}

/** An incomplete record: still being written, unless there are already more bytes than it could have. */
const tornTail = (bytes: Buffer) => (bytes.length > HEADER_BYTES + SMALL_BLOB_BYTES ? 1 : 0);

/** A short write means that the disk is full; the system reports it only on the next write. */
const noSpace = () =>
  Object.assign(new Error("short write"), { code: "ENOSPC", errno: -28, syscall: "write" });
