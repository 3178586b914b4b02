import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, ToolError } from "@octant/core";
import { z } from "zod";
import { type Confinement, splitPath } from "../confinement.ts";
import { TempName } from "../edits/temp-name.ts";
import { isDead, thisProcess } from "../jobs/process-identity.ts";
import type { Path } from "../path.ts";

const Note = z.object({ by: z.string(), temp: z.string() });

const ENDING = ".copy";

/** Records, until it is disposed, that a temporary file in the workspace is ours. */
export function noteCopy(folder: string, temp: Path): Disposable {
  const note = join(folder, `${randomUUID()}${ENDING}`);
  writeFileSync(note, JSON.stringify({ by: thisProcess(), temp }), { flag: "wx", mode: 0o600 });
  return { [Symbol.dispose]: () => rmSync(note, { force: true }) };
}

/** Removes partial copies that a killed process left in the workspace. */
export function sweepCopies(confinement: Confinement, folder: string): void {
  for (const name of readdirSync(folder).filter((one) => one.endsWith(ENDING))) {
    const note = parseNote(join(folder, name));
    if (note && !isDead(note.by)) continue;
    if (note) removeTemp(confinement, note.temp);
    rmSync(join(folder, name), { force: true });
  }
}

/** undefined when it was torn as its writer died, before there was anything to remove; or removed just now. */
const parseNote = (path: string) => attempt(() => Note.parse(JSON.parse(readFileSync(path, "utf8"))));

function removeTemp(confinement: Confinement, temp: Path): void {
  const { parent, name } = splitPath(temp);
  if (!TempName.safeParse(name).success) return;
  try {
    using folder = confinement.openFolder(parent);
    rmSync(folder.at(name), { force: true });
  } catch (cause) {
    // The folder no longer exists.
    if (!(cause instanceof ToolError)) throw cause;
  }
}
