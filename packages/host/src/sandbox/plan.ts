import { readFileSync, readlinkSync } from "node:fs";
import { delimiter, dirname, isAbsolute, resolve } from "node:path";
import { isWithin, type Path, toNative } from "../path.ts";
import { CERTIFICATES } from "../processes/environment.ts";
import type { StateFolder } from "../state.ts";
import { addHome, cachesElsewhere, type HomeOptions, maskHome, maskSecrets } from "./home.ts";
import { GIT_SECRET } from "./home-places.ts";
import { hasHome, homeOf, homesOf } from "./homes.ts";
import {
  hideOtherHomes,
  listWritable,
  maskDenied,
  maskOctant,
  maskOtherNames,
  maskSockets,
  maskSystem,
  outermost,
} from "./masks.ts";
import { type Mount, read, write } from "./mount.ts";
import { installFolder, ownFiles } from "./own-files.ts";
import { openTempFolder, type Scratch } from "./scratch.ts";
import type { SandboxSettings } from "./settings.ts";
import { INSTALLED, SHOWN_IN_RUN, SYSTEM } from "./system-places.ts";
import { createTree, lstatOf, realPath, statOf, type Tree } from "./tree.ts";

export interface PlanOptions {
  readonly roots: readonly Path[];
  readonly settings: SandboxSettings;
  /** Further writable places; in mode allowlist the only ones. */
  readonly allowed: readonly Path[];
  readonly env: NodeJS.ProcessEnv;
  readonly state: StateFolder;
  readonly scratch: Scratch;
  /** Commands run as the machine's root, not root of a user namespace, so file permissions protect nothing. */
  readonly isRoot: boolean;
  readonly protectedMounts: readonly Mount[];
  /** Of servers on this machine. */
  readonly sockets: readonly string[];
  /** The command is one of our own programs. */
  readonly isOurs: boolean;
  /** Further files of ours that the command needs; mounted in `/run`. */
  readonly extra: readonly Mount[];
  /** Places outside the roots that the command needs; of a file it gets a copy. */
  readonly besides?: readonly Path[];
  /** The whole tree is read-only. */
  readonly readOnly?: boolean;
  /** Besides the system, only the workspace and the settings of tools; of the person nothing else. */
  readonly onlyWorkspace?: boolean;
  /** Files and folders that it must not see, where they really are. */
  readonly masked?: readonly Path[];
  /** Only these places and the system's programs, with a temp folder of its own. */
  readonly apart?: { readonly reads: readonly Path[]; readonly writes: readonly Path[] };
}

/** Everything that a command of the workspace sees, in mount order. */
export function planMounts(options: PlanOptions): readonly Mount[] {
  const { apart, settings } = options;
  if (apart)
    return planAllowlist({ ...options, allowed: apart.writes, settings: { ...settings, ...NOTHING_ELSE } });
  const mounts = settings.mode === "allowlist" ? planAllowlist(options) : planWorkspace(options);
  return options.readOnly ? mounts.map(toReadOnly) : mounts;
}

const NOTHING_ELSE = { mode: "allowlist", allowed_paths: [] } as const;

const toReadOnly = (mount: Mount): Mount => ("source" in mount ? { ...mount, kind: "read" } : mount);

function planWorkspace(options: PlanOptions): readonly Mount[] {
  const { settings, env, scratch, protectedMounts, isOurs, onlyWorkspace = false } = options;
  const tree = createTree();
  const writable = listWritable(options);
  const isBare = onlyWorkspace && !writable.includes("/");
  if (isBare) addSystem(tree, [...SYSTEM, ...INSTALLED]);
  else tree.add(writable.includes("/") ? write("/") : read("/"));
  addKernel(tree);
  tree.add({ kind: "empty", at: "/run" });
  for (const mount of [...shownInRun().map((path) => read(path)), ...options.extra]) tree.add(mount);
  addTemp(tree, scratch);
  hideOtherHomes(tree, options);

  const shown = onlyWorkspace ? "tools" : settings.hide_home ? "caches" : "all";
  const places: HomeOptions = { home: homeOf(env), env, shown, writable, scratch, isOurs };
  const isOpen = (home: string) => writable.some((path) => isWithin(path, home));
  if (!isOpen(places.home) && hasHome(places.home)) addHome(tree, places);
  addPrograms(tree, options, writable);
  addCertificates(tree, options);
  for (const path of outermost([...writable, ...cachesElsewhere(places)]))
    if (path !== "/") tree.add(toWritable(path));
  addBesides(tree, options, writable);
  addPins(tree, options);
  for (const mount of protectedMounts) tree.add(mount);
  for (const home of homesOf(env)) (isOpen(home) ? maskHome : maskSecrets)(tree, { ...places, home });
  maskOtherNames(tree, options, writable);
  maskDenied(tree, options);
  maskSystem(tree, options);
  maskOctant(tree, options);
  protectOwnFiles(tree);
  if (isBare) tree.add({ kind: "seal", at: "/" });
  maskSockets(tree, options);
  return tree.mounts;
}

function planAllowlist(options: PlanOptions): readonly Mount[] {
  const { roots, env, scratch, protectedMounts } = options;
  const tree = createTree();
  addSystem(tree, SYSTEM);
  addKernel(tree);
  for (const mount of [...shownInRun().map((path) => read(path)), ...options.extra]) tree.add(mount);
  if (options.apart) tree.add({ kind: "empty", at: "/tmp" });
  else addTemp(tree, scratch);
  tree.add({ kind: "empty", at: homeOf(env) });
  for (const path of roots) tree.add({ kind: "folder", at: path });
  for (const path of outermost(options.apart?.reads ?? [])) tree.add(read(path));
  const writable = outermost(listWritable(options));
  for (const path of writable) tree.add(toWritable(path));
  addBesides(tree, options, writable);
  addPins(tree, options);
  for (const mount of protectedMounts) if (writable.some((path) => isWithin(path, mount.at))) tree.add(mount);
  maskDenied(tree, options);
  maskSystem(tree, options);
  maskOctant(tree, options);
  protectOwnFiles(tree);
  tree.add({ kind: "seal", at: "/" });
  maskSockets(tree, options);
  return tree.mounts;
}

function addSystem(tree: Tree, paths: readonly Path[]): void {
  for (const path of paths) {
    const found = lstatOf(path);
    if (found?.isSymbolicLink()) tree.add({ kind: "link", target: readlinkSync(path), at: path });
    else if (found) tree.add(read(path));
  }
}

function addKernel(tree: Tree): void {
  tree.add({ kind: "devices", at: "/dev" });
  tree.add({ kind: "processes", at: "/proc" });
  // Kernel settings can be changed by their owner, root, even without capabilities. And the memory of the first process,
  // which has no filter, is a file there.
  tree.add({ kind: "seal", at: "/proc" });
}

/** The real temp folders contain sockets of other programs. */
function addTemp(tree: Tree, scratch: Scratch): void {
  tree.add(write(openTempFolder(scratch, "tmp"), "/tmp"), { kept: true });
  if (lstatOf("/var/tmp")?.isDirectory() || tree.mounts[0]?.at !== "/")
    tree.add(write(openTempFolder(scratch, "var-tmp"), "/var/tmp"), { kept: true });
}

/**
 * Programs on the PATH and Octant's own code (test runners load our reporters) may be in a temp folder or in a hidden
 * part of the home: a fresh clone, or a toolchain unpacked by CI.
 */
function addPrograms(tree: Tree, { env }: PlanOptions, writable: readonly Path[]): void {
  const named = (env["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  const folders = [...named, dirname(process.execPath), installFolder()].flatMap(
    (path) => realPath(path) ?? [],
  );
  for (const path of outermost(folders)) {
    const isThere = tree.sourceOf(path) !== undefined || writable.some((root) => isWithin(root, path));
    if (!isThere && path !== "/" && statOf(path)?.isDirectory()) tree.add(read(path));
  }
}

/** Certificates that the person named may be in a hidden place; without them nothing can be downloaded. */
function addCertificates(tree: Tree, { env }: PlanOptions): void {
  for (const value of CERTIFICATES.map((name) => env[name])) {
    const real = value?.startsWith("/") ? realPath(value) : undefined;
    if (value === undefined || real === undefined || isWithin(real, homeOf(env))) continue;
    if (tree.sourceOf(value) === undefined) tree.add({ ...read(real, value), mayBeGone: true });
  }
}

/** A mount that contains the home would expose the real home. */
function addBesides(
  tree: Tree,
  { besides = [], readOnly = false, env, scratch }: PlanOptions,
  writable: readonly Path[],
): void {
  for (const path of outermost(besides)) {
    const isThere =
      writable.some((root) => isWithin(root, path)) || (readOnly && tree.sourceOf(path) === path);
    const found = statOf(path);
    if (isThere || !found || isWithin(path, homeOf(env))) continue;
    if (found.isDirectory()) tree.add({ ...write(path), mayBeGone: true });
    // Without bind mounts, as on macOS, it is visible unchanged.
    else if (found.isFile() && process.platform === "linux")
      tree.add(read(scratch.keep("copy", withoutSecrets(path)), path));
  }
}

/** Git settings may name further secret files or patterns. */
function withoutSecrets(path: Path): Buffer {
  const lines = readFileSync(toNative(path), "latin1").split("\n");
  return Buffer.from(lines.filter((line) => !GIT_SECRET.test(line)).join("\n"), "latin1");
}

/**
 * Binds folders onto themselves, outermost first: a command can rename a plain folder, but not a mount point. So
 * nested roots, and the folders above our own files and denied ones, cannot be replaced between the check and the mount. Before the
 * protected entries: a later mount of a folder would uncover them.
 */
function addPins(tree: Tree, { roots, masked = [] }: PlanOptions): void {
  const nested = roots.filter((root) => roots.some((other) => other !== root && isWithin(other, root)));
  const kept = [...nested, ...ownFiles(), ...masked];
  const pins = [...nested, ...kept.flatMap((path) => foldersAbove(tree, path))];
  for (const path of [...new Set(pins)].sort((a, b) => a.length - b.length))
    if (isWritable(tree, path)) tree.add(write(path));
}

/** The folders between the mount that shows a path and the path itself. */
function foldersAbove(tree: Tree, path: Path): Path[] {
  const top = tree.holderOf(path)?.at ?? path;
  const folders: Path[] = [];
  for (let folder = dirname(path); isWithin(top, folder) && folder !== top; folder = dirname(folder))
    folders.push(folder);
  return folders;
}

/** A command that could overwrite our code would have it run outside by the next one. */
function protectOwnFiles(tree: Tree): void {
  for (const path of ownFiles()) if (isWritable(tree, path)) tree.add(read(path));
}

/** Whether commands would see the real entry at this path, and could change it. */
const isWritable = (tree: Tree, path: Path): boolean =>
  tree.holderOf(path)?.kind === "write" && tree.sourceOf(path) === path && statOf(path) !== undefined;

/** Without these no name can be resolved, where `/etc/resolv.conf` is a link. */
function shownInRun(): string[] {
  const resolver = realPath("/etc/resolv.conf");
  const wanted = resolver && isWithin("/run", resolver) ? [...SHOWN_IN_RUN, resolver] : SHOWN_IN_RUN;
  return [...new Set(wanted)].filter((path) => statOf(path));
}

/** The places that settings allow besides the roots, where they really are. */
export function resolveAllowed(roots: readonly Path[], { allowed_paths }: SandboxSettings): Path[] {
  const [first = "/"] = roots;
  return allowed_paths.flatMap((path) => realPath(resolve(first, path)) ?? []);
}

const toWritable = (path: Path): Mount =>
  isWithin("/dev", path) ? { kind: "device", source: path, at: path } : write(path);
