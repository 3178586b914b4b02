import fs from "node:fs";
import { promisify } from "node:util";

/** The file system. It is an argument so that a test can let each system call fail. */
export type Disk = typeof fs;
export const realDisk: Disk = fs;

type NativePath = string | Buffer;

/**
 * Above this size the work is asynchronous, so that the event loop continues; below it that costs more than it saves.
 */
const BLOCKING_BYTES = 1024 * 1024;

/** Writes all the bytes from the file's start and waits until the disk has them. */
export async function writeDurably(disk: Disk, fd: number, bytes: Uint8Array): Promise<void> {
  await writeContent(disk, fd, bytes);
  await syncContent(disk, fd, bytes.length);
}

export async function writeContent(disk: Disk, fd: number, bytes: Uint8Array): Promise<void> {
  if (bytes.length <= BLOCKING_BYTES) return writeAll(disk, fd, bytes);
  for (let at = 0; at < bytes.length; ) at += await writeSome(disk, fd, bytes, at);
}

export async function syncContent(disk: Disk, fd: number, size: number): Promise<void> {
  if (size <= BLOCKING_BYTES) return disk.fdatasyncSync(fd);
  await promisify(disk.fdatasync)(fd);
}

export function writeAll(disk: Disk, fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += disk.writeSync(fd, bytes, at, bytes.length - at, at);
}

const writeSome = (disk: Disk, fd: number, bytes: Uint8Array, at: number): Promise<number> =>
  new Promise((resolve, reject) => {
    disk.write(fd, bytes, at, bytes.length - at, at, (error, written) =>
      error ? reject(error) : resolve(written),
    );
  });

/** Opens, runs and closes. */
export async function withFile<T>(
  disk: Disk,
  path: NativePath,
  flags: number,
  mode: number,
  work: (fd: number) => Promise<T> | T,
): Promise<T> {
  const fd = disk.openSync(path, flags, mode);
  try {
    return await work(fd);
  } finally {
    disk.closeSync(fd);
  }
}

/** Creates a missing folder; without a mode the umask applies. */
export function makeFolder(disk: Disk, path: NativePath, mode: number | undefined): void {
  if (mode === undefined) return void disk.mkdirSync(path);
  disk.mkdirSync(path, { mode });
  // What the umask took away.
  const fd = disk.openSync(path, FOLDER);
  try {
    disk.fchmodSync(fd, mode);
  } finally {
    disk.closeSync(fd);
  }
}

const FOLDER = fs.constants.O_RDONLY | fs.constants.O_DIRECTORY | fs.constants.O_NOFOLLOW;

/** Writes into an existing file, which keeps its hard links and owner; false when it has been replaced. */
export const overwrite = (
  disk: Disk,
  path: NativePath,
  { bytes, mode, known }: { bytes: Uint8Array; mode: number | undefined; known: fs.Stats },
): Promise<boolean> =>
  withFile(disk, path, EXISTING_FILE, 0, async (fd) => {
    const { dev, ino } = disk.fstatSync(fd);
    if (dev !== known.dev || ino !== known.ino) return false;
    await writeDurably(disk, fd, bytes);
    disk.ftruncateSync(fd, bytes.length);
    if (mode !== undefined) disk.fchmodSync(fd, mode & 0o7777);
    disk.fsyncSync(fd);
    return true;
  });

const EXISTING_FILE = fs.constants.O_WRONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK;
