import { createHash } from "node:crypto";
import { readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { hashOf, isWithin, readRegularFile } from "@octant/host";

export interface SkillFile {
  /** In the folder of the skill. */
  readonly path: string;
  readonly bytes: number;
}

export interface SkillFolder {
  readonly files: readonly SkillFile[];
  /** Of all names and contents. */
  readonly hash: string;
}

const MAX_ENTRIES = 300;
const MAX_DEPTH = 8;
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_TOTAL_BYTES = 8 * 1024 * 1024;

/** All files of a skill, with the hash that trust depends on. A text says why the folder cannot be used. */
export function scanSkillFolder(folder: string): SkillFolder | string {
  const digest = createHash("sha256");
  const files: SkillFile[] = [];
  const pending = [folder];
  let [entries, total] = [0, 0];
  for (let at = pending.shift(); at !== undefined; at = pending.shift()) {
    for (const entry of entriesOf(at)) {
      const path = join(at, entry.name);
      const name = relative(folder, path);
      if (++entries > MAX_ENTRIES) return `it has more than ${MAX_ENTRIES} files and folders`;
      if (name.split("/").length > MAX_DEPTH) return `its folders are nested more than ${MAX_DEPTH} deep`;
      if (entry.isDirectory()) pending.push(path);
      else if (entry.isSymbolicLink()) digest.update(JSON.stringify(["link", name, readlinkSync(path)]));
      else if (!entry.isFile()) return `${name} is neither a file nor a folder`;
      else {
        const bytes = readRegularFile(path, MAX_TOTAL_BYTES - total, { followsLinks: false });
        if (!bytes) return `its files have more than ${MAX_TOTAL_BYTES} bytes, or one cannot be read`;
        total += bytes.length;
        files.push({ path: name, bytes: bytes.length });
        digest.update(JSON.stringify(["file", name, statSync(path).mode & EXECUTABLE, hashOf(bytes)]));
      }
    }
  }
  return { files, hash: `sha256:${digest.digest("hex")}` };
}

const EXECUTABLE = 0o111;

const entriesOf = (folder: string) =>
  readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));

/** The content of a file; undefined when it is not one of the skill's, also when a link leads out of the folder. */
export function readSkillFile(folder: string, path: string): Buffer | undefined {
  try {
    const real = realpathSync(join(folder, path));
    return isWithin(folder, real)
      ? readRegularFile(real, MAX_FILE_BYTES, { followsLinks: false })
      : undefined;
  } catch {
    return undefined;
  }
}
