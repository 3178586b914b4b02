import { createHash } from "node:crypto";
import { constants, lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { cacheFolder, makeFolders, replaceFile } from "@octant/host";
import type { HandshakeResults } from "@octant/mcp";
import { type LoadOptions, settingsPlaces } from "@octant/runtime";

/**
 * The handshake results of the last server that was started in the same way. Stored next to Node's compile cache and
 * trusted as much. An entry is valid only while the executable, the flags, the environment and the settings files are
 * the same; a server that refused to start stores none. A checkout, whose sources change one by one, has no cache.
 */
export function createHandshakeCache(
  flags: object,
  { env, roots }: Pick<LoadOptions, "env" | "roots">,
  code = import.meta.filename,
) {
  if (!code.endsWith(".js")) return undefined;
  const folders = roots.map((root) => resolve(root));
  const places = [code, ...folders, ...settingsPlaces({ env, roots: folders })];
  const toKey = () =>
    createHash("sha256")
      .update(JSON.stringify([flags, variablesOf(env), places, places.map(stampOf)]))
      .digest("hex");
  const key = toKey();
  const folder = join(cacheFolder(env), "handshakes");
  const file = join(folder, `${key}.json`);
  return {
    /** Whether nothing has changed since. */
    isCurrent: () => toKey() === key,
    load(): HandshakeResults | undefined {
      try {
        // `store` wrote it atomically.
        return JSON.parse(readFileSync(file, "utf8"));
      } catch {
        return undefined;
      }
    },
    store(results: HandshakeResults): void {
      try {
        makeFolders(folder, 0o700);
        replaceFile(file, JSON.stringify(results), { mode: 0o600, durable: false });
        removeOldest(folder);
      } catch {
        // Without a cache every start computes the results.
      }
    },
  };
}

/** More than one person has ways to start a server. */
const MAX_ENTRIES = 32;

function removeOldest(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name));
  if (files.length <= MAX_ENTRIES) return;
  const dated = files.map((file) => ({ file, time: lstatSync(file, { bigint: true }).mtimeNs }));
  const oldest = dated.sort((a, b) => (a.time < b.time ? -1 : 1)).slice(0, -MAX_ENTRIES);
  for (const { file } of oldest) rmSync(file, { force: true });
}

const variablesOf = (env: NodeJS.ProcessEnv) =>
  Object.entries(env)
    .filter(([name]) => OURS.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));

const OURS = /^(OCTANT|HANZO)_/;

/** Changes with any change to the file; for a folder, only its existence and owner count. */
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
