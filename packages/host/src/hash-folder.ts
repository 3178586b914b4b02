import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { ToolError } from "@octant/core";
import { isWithin } from "./path.ts";

/** A folder with more is not one that a person can have looked at. */
const MAX_FILES = 20_000;
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * The hash of all files of a folder, their names and whether they can be run. `.git` does not count: it holds no code
 * that is loaded. A link that leads out of the folder is refused, because its target could change unseen; `elsewhere`
 * accepts some.
 */
export function hashFolder(folder: string, elsewhere: (target: string) => boolean = () => false): string {
  const hash = createHash("sha256");
  let [files, bytes] = [0, 0];
  const add = (path: string) => {
    const stat = lstatSync(path);
    const name = relative(folder, path);
    files += 1;
    bytes += stat.isFile() ? stat.size : 0;
    if (files > MAX_FILES || bytes > MAX_BYTES)
      throw refused(
        folder,
        `more than ${MAX_FILES} files or ${MAX_BYTES} bytes; leave out development dependencies`,
      );
    if (stat.isDirectory()) return addAll(path);
    if (stat.isSymbolicLink()) {
      const target = realpathSync(path);
      if (!isWithin(realpathSync(folder), target) && !elsewhere(target))
        throw refused(folder, `${name} is a link out of it`);
      return void hash.update(JSON.stringify(["link", name, readlinkSync(path)]));
    }
    if (!stat.isFile()) throw refused(folder, `${name} is not a regular file`);
    const content = createHash("sha256").update(readFileSync(path)).digest("hex");
    hash.update(JSON.stringify(["file", name, (stat.mode & EXECUTABLE) !== 0, content]));
  };
  const addAll = (inner: string) => {
    for (const name of readdirSync(inner).sort()) if (name !== ".git") add(join(inner, name));
  };
  addAll(folder);
  return `sha256:${hash.digest("hex")}`;
}

const EXECUTABLE = 0o111;

const refused = (folder: string, why: string) =>
  new ToolError("INVALID_ARGUMENT", `${folder} cannot be trusted by its content: ${why}`, {
    issues: [{ path: folder, message: why }],
  });
