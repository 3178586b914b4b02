import fs from "node:fs";

/** Makes the names in a folder durable. Windows cannot open folders, and needs none of this. */
export function syncFolder(path: string | Buffer, disk: typeof fs = fs): void {
  if (process.platform === "win32") return;
  const fd = disk.openSync(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    disk.fsyncSync(fd);
  } finally {
    disk.closeSync(fd);
  }
}
