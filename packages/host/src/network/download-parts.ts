import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Hash } from "@octant/core";

/** A partial download, stored in the state folder until complete. A claim is exclusive. */
export interface Part {
  readonly path: string;
  readonly size: number;
  /** The entity tag of the whole file; required for resuming. */
  readonly tag: string | undefined;
  /** Discards the partial file. */
  restart(tag: string | undefined): Promise<void>;
  append(bytes: Buffer): Promise<void>;
  /** Waits until the disk has all of it. */
  finish(): Promise<Hash>;
  /** Stores the bytes for a later resume, if that is possible. */
  release(): Promise<void>;
  drop(): Promise<void>;
}

const MAX_AGE_MS = 24 * 60 * 60 * 1000;
/** So that key and tag fit into the name of a file. */
const MAX_TAG_CHARS = 120;
const KEY_CHARS = 32;

/** Claims the partial file of an earlier download, or starts a new one. Abandoned parts are removed. */
export async function claimPart(folder: string, identity: unknown): Promise<Part> {
  await sweep(folder);
  const key = createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, KEY_CHARS);
  const path = join(folder, `${randomUUID()}.busy`);
  const tag = await takeOver(folder, key, path);
  // The mode that the file will have in the end; the folder is private.
  const file = await open(path, tag === undefined ? "wx+" : "r+", 0o666);
  const { size } = await file.stat();
  return createPart(folder, key, path, file, { tag, size });
}

/** Tag and key are in the name, so that one rename claims it: of two contenders, one succeeds. */
async function takeOver(folder: string, key: string, path: string): Promise<string | undefined> {
  for (const name of await readdir(folder)) {
    const [found, tag = "", kind] = name.split(".");
    if (found !== key || kind !== "part") continue;
    try {
      await rename(join(folder, name), path);
      return Buffer.from(tag, "base64url").toString();
    } catch {
      // Another process was faster.
    }
  }
  return undefined;
}

function createPart(
  folder: string,
  key: string,
  path: string,
  file: FileHandle,
  kept: { tag: string | undefined; size: number },
): Part {
  let { tag, size } = kept;
  let digest = createHash("sha256");
  let isHashed = size === 0;
  const drop = async () => {
    await file.close();
    await rm(path, { force: true });
  };
  return {
    path,
    get size() {
      return size;
    },
    get tag() {
      return tag;
    },
    async restart(next) {
      await file.truncate(0);
      size = 0;
      tag = next;
      digest = createHash("sha256");
      isHashed = true;
    },
    async append(bytes) {
      if (!isHashed) for await (const chunk of createReadStream(path)) digest.update(chunk);
      isHashed = true;
      for (let at = 0; at < bytes.length; )
        at += (await file.write(bytes, at, bytes.length - at, size + at)).bytesWritten;
      digest.update(bytes);
      size += bytes.length;
    },
    async finish() {
      await file.datasync();
      return `sha256:${digest.digest("hex")}`;
    },
    async release() {
      if (tag === undefined || size === 0 || tag.length > MAX_TAG_CHARS) return drop();
      await file.close();
      await rename(path, join(folder, `${key}.${Buffer.from(tag).toString("base64url")}.part`));
    },
    drop,
  };
}

async function sweep(folder: string): Promise<void> {
  const before = Date.now() - MAX_AGE_MS;
  for (const name of await readdir(folder)) {
    if (!/\.(part|busy)$/.test(name)) continue;
    const path = join(folder, name);
    const mtime = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => before,
    );
    if (mtime < before) await rm(path, { force: true });
  }
}
