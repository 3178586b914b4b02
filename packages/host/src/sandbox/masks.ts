import { readdirSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { linkedFilesIn } from "../hard-links.ts";
import { makeFolders } from "../make-folders.ts";
import { isWithin, type Path } from "../path.ts";
import { cacheFolder, xdgFolder } from "../user-folders.ts";
import { addMask, namedByEnvironment } from "./home.ts";
import { hasHome, homeOf, homesOf, secretPlaces } from "./homes.ts";
import { read } from "./mount.ts";
import type { PlanOptions } from "./plan.ts";
import { MASKED_SYSTEM, OTHER_HOMES, SHARED_IN_HOMES } from "./system-places.ts";
import { lstatOf, statOf, type Tree } from "./tree.ts";

export function maskDenied(tree: Tree, { masked = [], scratch }: PlanOptions): void {
  for (const path of outermost(masked)) addMask(tree, path, scratch);
}

/** Hard links to secrets of a home that commands work in. */
export function maskOtherNames(tree: Tree, { env, scratch }: PlanOptions, writable: readonly Path[]): void {
  const secrets = secretPlaces(env).filter((place) => writable.some((root) => isWithin(root, place)));
  const linked = secrets.flatMap((place) => [...linkedFilesIn(place)]);
  const inodes = new Set(linked.flatMap((one) => (one === "too many" ? [] : one.inode)));
  if (inodes.size === 0) return;
  for (const found of outermost(writable).flatMap((root) => [...linkedFilesIn(root)]))
    if (found !== "too many" && inodes.has(found.inode)) addMask(tree, found.path, scratch);
}

export function maskSystem(tree: Tree, { scratch, isRoot }: PlanOptions): void {
  for (const path of MASKED_SYSTEM) {
    const found = lstatOf(path);
    // The system has put an empty one there for a program that is not used; a link leads to another of these.
    const isNothing = !found || found.isSymbolicLink() || (found.isFile() && found.size === 0);
    if (!isNothing && (isRoot || isReadable(path))) addMask(tree, path, scratch);
  }
}

/** Root can read every home; another user only their own, even if HOME names another one. */
export function hideOtherHomes(tree: Tree, { isRoot, env }: PlanOptions): void {
  const home = homeOf(env);
  const others = homesOf(env).filter((path) => hasHome(path) && !isWithin(path, home));
  for (const path of isRoot ? outermost([...OTHER_HOMES, ...others]) : others) {
    if (home === path || isEmpty(path) || !tree.sourceOf(path)) continue;
    tree.add({ kind: "empty", at: path });
    const shared = [
      ...SHARED_IN_HOMES.filter((folder) => isWithin(path, folder)),
      ...toolchainsIn(path, env),
    ];
    for (const folder of outermost(shared))
      if (statOf(folder) && !isWithin(home, folder)) tree.add(read(folder));
  }
}

function isEmpty(folder: string): boolean {
  return !statOf(folder)?.isDirectory() || readdirSync(folder).length === 0;
}

/** `sudo`, and a home that was changed, leave the PATH as it was. */
function toolchainsIn(path: string, env: NodeJS.ProcessEnv): string[] {
  const homes = path === "/home" ? readdirSync(path).map((name) => join(path, name)) : [path];
  return homes.flatMap((home) => namedByEnvironment(home, env).map((name) => join(home, name)));
}

/** Octant's own state, settings and compiled code: writing there would change code that runs outside the sandbox. */
export function maskOctant(tree: Tree, { state, scratch, env }: PlanOptions): void {
  const own = { ...env, HOME: homeOf(env) };
  const cache = cacheFolder(own);
  // A home that cannot be written to has none, and will have none.
  attempt(() => makeFolders(cache, 0o700));
  const settings = join(xdgFolder(own, "XDG_CONFIG_HOME", ".config"), "hanzo");
  for (const path of [cache, settings, state.base]) addMask(tree, path, scratch);
}

/**
 * A read-only mount does not prevent connections to a socket. Those in places that commands may write to are meant for
 * them. Sockets come and go, so their masks are the last mounts, and a launcher leaves out those of sockets that are
 * gone.
 */
export function maskSockets(tree: Tree, options: PlanOptions): void {
  const { sockets, env, scratch } = options;
  const writable = listWritable(options);
  const isHidden = (path: string) =>
    !writable.some((folder) => isWithin(folder, path) || isWithin(path, folder));
  const runtime = env["XDG_RUNTIME_DIR"];
  if (runtime?.startsWith("/") && isHidden(runtime)) addMask(tree, runtime, scratch);
  for (const path of sockets.filter((path) => isHidden(path) && statOf(path)?.isSocket()))
    addMask(tree, path, scratch, { ifThere: true });
}

export const listWritable = ({ roots, settings, allowed }: PlanOptions): Path[] =>
  settings.mode === "allowlist" ? [...allowed] : [...roots, ...allowed];

export const outermost = (paths: readonly Path[]): Path[] =>
  [...new Set(paths)]
    .filter((path) => !paths.some((other) => other !== path && isWithin(other, path)))
    .sort();

const isReadable = (path: string): boolean => {
  const found = statOf(path);
  if (!found) return false;
  const isMine = found.uid === process.getuid?.();
  return (
    isMine || (found.mode & OTHERS_CAN_READ) !== 0 || (process.getgroups?.().includes(found.gid) ?? false)
  );
};
const OTHERS_CAN_READ = 0o004;
