import { closeSync, constants, lstatSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import { errnoOf } from "../errno.ts";
import { findRepository } from "./repository.ts";

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;

/** Adds a file below `root` to the repository's own list of ignored files, which is not committed. */
export function excludeFromGit(confinement: Pick<Confinement, "roots">, root: string, file: string): void {
  try {
    const { top, commonDir } = findRepository(confinement, root);
    const folder = join(commonDir, "info");
    mkdirSync(folder, { recursive: true });
    // The repository may have come with links to elsewhere.
    if (!lstatSync(folder).isDirectory()) return;
    const list = openSync(join(folder, "exclude"), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o644);
    const known = readFileSync(list, "utf8");
    const line = `/${join(root, file).slice(top.replace(/\/?$/, "/").length)}`;
    const isKnown = known.split("\n").includes(line);
    if (!isKnown) writeSync(list, `${known === "" || known.endsWith("\n") ? "" : "\n"}${line}\n`);
    closeSync(list);
  } catch (cause) {
    // Without a repository, or with one that cannot be written, there is nothing to do.
    if (!(cause instanceof ToolError) && errnoOf(cause) === undefined) throw cause;
  }
}
