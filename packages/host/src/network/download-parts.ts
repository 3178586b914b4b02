import { createHash, hash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Hash } from "@octant/core";

const MAX_AGE_MS = 24 * 60 * 60 * 1000;
/** So that key and tag fit into the name of a file. */
const MAX_TAG_CHARS = 120;
const KEY_CHARS = 32;

/** Claims the partial file of an earlier download, or starts a new one. Abandoned parts are removed. */
export async function claimPart(folder: string, identity: unknown): Promise<Part> {
  await sweep(folder);
  const key = hash("sha256", JSON.stringify(identity)).slice(0, KEY_CHARS);
  const path = join(folder, `${randomUUID()}.busy`);
  const tag = await takeOver(folder, key, path);
  // The mode that the file will have in the end; the folder is private.
  const file = await open(path, tag === undefined ? "wx+" : "r+", 0o666);
  const { size } = await file.stat();
  return new Part(folder, key, path, file, tag, size);
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

/** A partial download, stored in the state folder until complete. A claim is exclusive. */
export class Part {
  readonly path: string;
  size: number;
  /** The entity tag of the whole file; required for resuming. */
  tag: string | undefined;
  readonly #kept: string;
  readonly #file: FileHandle;

  constructor(
    folder: string,
    key: string,
    path: string,
    file: FileHandle,
    tag: string | undefined,
    size: number,
  ) {
    this.path = path;
    this.size = size;
    this.tag = tag;
    this.#kept = join(folder, key);
    this.#file = file;
  }

  /** Discards the partial file. */
  async restart(tag: string | undefined): Promise<void> {
    await this.#file.truncate(0);
    this.size = 0;
    this.tag = tag;
  }

  async append(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; )
      at += (await this.#file.write(bytes, at, bytes.length - at, this.size + at)).bytesWritten;
    this.size += bytes.length;
  }

  /** Waits until the disk has all of it. */
  async finish(): Promise<Hash> {
    await this.#file.datasync();
    const digest = createHash("sha256");
    for await (const chunk of createReadStream(this.path)) digest.update(chunk);
    return `sha256:${digest.digest("hex")}`;
  }

  /** Stores the bytes for a later resume, if that is possible. */
  async release(): Promise<void> {
    if (this.tag === undefined || this.size === 0 || this.tag.length > MAX_TAG_CHARS) return this.drop();
    await this.#file.close();
    await rename(this.path, `${this.#kept}.${Buffer.from(this.tag).toString("base64url")}.part`);
  }

  async drop(): Promise<void> {
    await this.#file.close();
    await rm(this.path, { force: true });
  }
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
