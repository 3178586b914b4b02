import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Every entry below a folder with its kind, mode and content; folders end in a slash. */
export function treeOf(folder: string, prefix = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) found[prefix + name] = `link ${readlinkSync(path)}`;
    else if (stat.isDirectory())
      Object.assign(found, { [`${prefix}${name}/`]: mode }, treeOf(path, `${prefix}${name}/`));
    else found[prefix + name] = stat.isFile() ? `${mode} ${readFileSync(path, "latin1")}` : "special";
  }
  return found;
}
