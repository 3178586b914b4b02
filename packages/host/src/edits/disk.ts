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

/** For a file that must not exist yet. */
export const NEW_FILE =
  fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL | fs.constants.O_NOFOLLOW;

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

/** A file that is closed at the end of its scope. */
export function openFile(disk: Disk, path: NativePath, flags: number, mode?: number) {
  const fd = disk.openSync(path, flags, mode);
  return { fd, [Symbol.dispose]: () => disk.closeSync(fd) };
}

/** Creates a missing folder; without a mode the umask applies. */
export function makeFolder(disk: Disk, path: NativePath, mode: number | undefined): void {
  if (mode === undefined) return void disk.mkdirSync(path);
  disk.mkdirSync(path, { mode });
  // Restores the bits that the umask removed.
  using folder = openFile(disk, path, FOLDER);
  disk.fchmodSync(folder.fd, mode);
}

const FOLDER = fs.constants.O_RDONLY | fs.constants.O_DIRECTORY | fs.constants.O_NOFOLLOW;

/** Opens an existing file to write into it, so that it keeps its hard links and owner; `known` is its stat. */
export function openExisting(disk: Disk, path: NativePath, known: fs.Stats) {
  const file = openFile(disk, path, EXISTING_FILE);
  const { dev, ino } = disk.fstatSync(file.fd);
  if (dev === known.dev && ino === known.ino) return file;
  file[Symbol.dispose]();
  return undefined;
}

/** Replaces the content of an open file. */
export async function overwrite(
  disk: Disk,
  fd: number,
  { bytes, mode }: { readonly bytes: Uint8Array; readonly mode: number | undefined },
): Promise<void> {
  await writeDurably(disk, fd, bytes);
  disk.ftruncateSync(fd, bytes.length);
  // Only the owner may set a mode, even the one that the file has. Writing takes set-id bits away.
  if (mode !== undefined && (disk.fstatSync(fd).mode & 0o7777) !== (mode & 0o7777))
    disk.fchmodSync(fd, mode & 0o7777);
  disk.fsyncSync(fd);
}

const EXISTING_FILE = fs.constants.O_WRONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK;
