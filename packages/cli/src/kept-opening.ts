import { createHash } from "node:crypto";
import {
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { cacheFolder } from "@octant/host";
import type { Opening } from "@octant/mcp";
import { type LoadOptions, settingsPlaces } from "@octant/runtime";

/** How first questions were answered by the last server that was started in just this way. */
export interface KeptOpening {
  load(): Opening | undefined;
  /** Whether nothing has changed since. */
  isCurrent(): boolean;
  keep(opening: Opening): void;
}

/**
 * Kept beside the code that Node has compiled for us, and as much to be relied on. Nothing is found when the file that
 * we run from, the flags, the environment or a settings file is another; a server that refused to start kept nothing. A
 * checkout, whose sources change one by one, keeps none.
 */
export function createKeptOpening(
  flags: object,
  { env, roots }: Pick<LoadOptions, "env" | "roots">,
  code = import.meta.filename,
): KeptOpening | undefined {
  if (!code.endsWith(".js")) return undefined;
  const folders = roots.map((root) => resolve(root));
  const places = [code, ...folders, ...settingsPlaces({ env, roots: folders })];
  const toKey = () =>
    createHash("sha256")
      .update(JSON.stringify([flags, variablesOf(env), places, places.map(stampOf)]))
      .digest("hex");
  const key = toKey();
  const folder = join(cacheFolder(env), "openings");
  const file = join(folder, `${key}.json`);
  return {
    isCurrent: () => toKey() === key,
    load() {
      try {
        // Written by `keep`, whole or not at all.
        return JSON.parse(readFileSync(file, "utf8"));
      } catch {
        return undefined;
      }
    },
    keep(opening) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        const draft = `${file}.${process.pid}`;
        writeFileSync(draft, JSON.stringify(opening), { mode: 0o600 });
        renameSync(draft, file);
        forgetOldest(folder);
      } catch {
        // A cache that cannot be written is made anew each time.
      }
    },
  };
}

/** As many as one person has ways to start a server, and more. */
const MAX_KEPT = 32;

function forgetOldest(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name));
  if (files.length <= MAX_KEPT) return;
  const dated = files.map((file) => ({ file, time: lstatSync(file, { bigint: true }).mtimeNs }));
  const oldest = dated.sort((a, b) => (a.time < b.time ? -1 : 1)).slice(0, -MAX_KEPT);
  for (const { file } of oldest) rmSync(file, { force: true });
}

const variablesOf = (env: NodeJS.ProcessEnv) =>
  Object.entries(env)
    .filter(([name]) => OURS.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));

const OURS = /^(OCTANT|HANZO)_/;

/** Another one after any change; of a folder, only whether it is there and whose it is. */
function stampOf(path: string): readonly string[] {
  try {
    const { mode, uid, ino, size, ctimeNs } = lstatSync(path, { bigint: true });
    const facts = (mode & FILE_TYPE) === FOLDER ? [mode, uid] : [mode, uid, ino, size, ctimeNs];
    return facts.map(String);
  } catch {
    return [];
  }
}

const FILE_TYPE = BigInt(constants.S_IFMT);
const FOLDER = BigInt(constants.S_IFDIR);
