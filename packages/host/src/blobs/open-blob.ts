import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Hash } from "@octant/core";
import { toToolError } from "../system-error.ts";
import { type Blobs, toRef } from "./blobs.ts";

/** The bytes as a file of their own in a private folder, which is deleted when closed. */
export function openBlob(blobs: Pick<Blobs, "get">, hash: Hash, folder: string) {
  const bytes = blobs.get(hash);
  const path = join(folder, `${process.pid}-${randomBytes(8).toString("hex")}`);
  let fd: number | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    fd = openSync(path, "wx+", 0o600);
    unlinkSync(path);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
  } catch (cause) {
    if (fd !== undefined) closeSync(fd);
    throw toToolError(cause, toRef(hash));
  }
  return { fd, hash, size: bytes.length, [Symbol.dispose]: () => closeSync(fd) };
}
