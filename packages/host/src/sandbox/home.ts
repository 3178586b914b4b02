import { randomBytes } from "node:crypto";
import {
  constants,
  copyFileSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { attempt } from "@octant/core";
import { isWithin } from "../path.ts";
import { CACHE_VARIABLES, CACHES, COPIED, MASKED, SECRET_NAME, SHOWN } from "./home-places.ts";
import { type Bind, read, write } from "./mount.ts";
import type { Scratch } from "./scratch.ts";
import { lstatOf, moveAway, statOf, type Tree } from "./tree.ts";

export interface HomeOptions {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** tools: toolchains and settings that are listed as harmless, without caches. */
  readonly shown: "all" | "tools" | "caches";
  /** Places that commands can write to; links inside them are untrusted. */
  readonly writable: readonly string[];
  readonly scratch: Scratch;
  /** For our own programs: their settings must not be writable by other commands. */
  readonly isOurs: boolean;
}

/** A private home that persists between commands, with harmless entries of the real home mounted on top. Entries not listed never appear, even if created later. */
export function addHome(tree: Tree, options: HomeOptions): void {
  const { home, scratch, shown, isOurs } = options;
  /** The private counterpart of a folder in the home. */
  const ownFolder = (path: string): string =>
    scratch.folder(
      (isOurs ? "our-" : "") +
        (path === "" ? (shown === "caches" ? "home-hidden" : "home") : `layer-${path.replaceAll("/", "+")}`),
    );
  const own = new Set<string>();
  const entries = listEntries(options);
  for (const [path, mount] of entries) {
    const parents = ["", ...parentsOf(path)];
    const isInside = parents.some((parent) => entries.has(parent));
    for (const parent of isInside ? [] : parents) {
      if (own.has(parent)) continue;
      own.add(parent);
      dropCopies(ownFolder(parent), parent, entries);
      tree.add(write(ownFolder(parent), join(home, parent)), { kept: true });
    }
    if (isInside || !copyInto(ownFolder(dirnameOf(path)), path, mount.source)) tree.add(mount);
  }
  if (!own.has("")) tree.add(write(ownFolder(""), home), { kept: true });
  maskSecrets(tree, options);
}

/** Settings of shells and tools: a command may write to its copy, but with the next change of the home it is the person's again. */
const COPYABLE: readonly string[] = [...SHOWN, ...COPIED.map(({ path }) => path)];

/**
 * A small one is copied, since a mount costs some 0.2 ms with every command. Commands can write to this folder, so the
 * copy is written under a random name and renamed into place, which follows no link.
 */
function copyInto(folder: string, path: string, source: string): boolean {
  const found = statOf(source);
  if (!COPYABLE.includes(path) || !found?.isFile() || found.size > MAX_COPY_BYTES) return false;
  const draft = join(folder, `.octant-${randomBytes(16).toString("hex")}`);
  copyFileSync(source, draft, constants.COPYFILE_EXCL);
  const target = join(folder, basename(path));
  if (lstatOf(target)?.isDirectory()) moveAway(target);
  renameSync(draft, target);
  return true;
}

/** Removes copies of entries that the person has deleted. */
function dropCopies(folder: string, parent: string, entries: Entries): void {
  for (const path of COPYABLE) {
    if (dirnameOf(path) !== parent || entries.has(path)) continue;
    const copy = join(folder, basename(path));
    if (lstatOf(copy)?.isFile()) rmSync(copy);
  }
}

const dirnameOf = (path: string): string => (path.includes("/") ? dirname(path) : "");

const MAX_COPY_BYTES = 64 * 1024;

/** For a home inside a workspace root: it is visible unchanged, except that the secrets in it are covered. */
export function maskHome(tree: Tree, options: HomeOptions): void {
  for (const [path, mount] of listCopies(options)) if (statOf(join(options.home, path))) tree.add(mount);
  maskSecrets(tree, options);
}

/** The paths to watch for changes of the home. A missing entry shows up as a change of its parent folder. */
export const watchedIn = (home: string): string[] => [
  ...WATCHED.map((path) => join(home, path)).filter(statOf),
  ...COPYABLE.map((path) => join(home, path)).filter((path) => statOf(path)?.isFile()),
];

/** When its folders, and the files that are copied, were changed last. */
export const stampOf = (watched: readonly string[]): string =>
  watched
    .map(statOf)
    .map((found) => (found ? `${found.mtimeMs} ${found.isFile() ? found.size : ""}` : "-"))
    .join();

const parentsOf = (path: string): string[] =>
  path
    .split("/")
    .slice(0, -1)
    .map((_, n, parts) => parts.slice(0, n + 1).join("/"));

const WATCHED: readonly string[] = [...new Set(["", ...[...SHOWN, ...CACHES, ...MASKED].flatMap(parentsOf)])];

type Entries = Map<string, Bind>;

/** Sorted by path, so that a folder comes before the mounts inside it. */
function listEntries(options: HomeOptions): Entries {
  const { home, shown } = options;
  const found: Entries = new Map();
  const show = (path: string, bind: typeof read): void => {
    const source = harmlessSource(join(home, path), options);
    if (source) found.set(path, { ...bind(source, join(home, path)), mayBeGone: true });
  };
  if (shown === "all") {
    // Of a home that is not this user's, as sudo may leave it, nothing is shown.
    const names = attempt(() => readdirSync(home)) ?? [];
    const plain = names.filter((name) => !name.startsWith(".") && !isSecret(name));
    for (const path of [...plain, ...namedByEnvironment(home, options.env)]) show(path, read);
  }
  if (shown !== "caches") {
    for (const path of SHOWN) show(path, read);
    for (const [path, copy] of listCopies(options)) found.set(path, copy);
  }
  if (shown !== "tools") for (const path of CACHES) show(path, write);
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const isSecret = (path: string): boolean =>
  SECRET_NAME.test(path) || MASKED.some((masked) => isWithin(masked, path));

/** Folders of the home named by PATH and toolchain variables, which may be hidden and in no table. */
export function namedByEnvironment(home: string, env: NodeJS.ProcessEnv): string[] {
  const values = [...(env["PATH"] ?? "").split(":"), ...TOOLCHAIN_VARIABLES.map((name) => env[name] ?? "")];
  return values
    .filter((value) => value !== home && isWithin(home, value))
    .map((value) => value.slice(home.length + 1).split("/"))
    .map(([first = "", ...rest]) => (HAVE_SECRETS.has(first) ? [first, ...rest] : [first]).join("/"))
    .filter(
      (path) => path !== "" && !path.split("/").includes("..") && !HAVE_SECRETS.has(path) && !isSecret(path),
    );
}

const TOOLCHAIN_VARIABLES = [
  ...["JAVA_HOME", "GOROOT", "RUSTUP_HOME", "NVM_DIR", "VOLTA_HOME", "FNM_DIR", "PYENV_ROOT", "VIRTUAL_ENV"],
  ...["CONDA_PREFIX", "RBENV_ROOT", "DOTNET_ROOT", "ANDROID_HOME", "MAVEN_HOME", "SDKMAN_DIR"],
];

/** Folders that mix harmless and secret entries; only listed entries of these are shown. */
const HAVE_SECRETS: ReadonlySet<string> = new Set(
  [...SHOWN, ...CACHES, ...MASKED].flatMap(parentsOf).filter((path) => !SHOWN.includes(path)),
);

function listCopies({ home, scratch }: HomeOptions): Entries {
  const copies: Entries = new Map();
  for (const { path, secret } of COPIED) {
    const text = attempt(() => readFileSync(join(home, path), "utf8"));
    if (text === undefined) continue;
    const harmless = text.split("\n").filter((line) => !secret.test(line));
    const copy = scratch.keep("copy", Buffer.from(harmless.join("\n")));
    copies.set(path, read(copy, join(home, path)));
  }
  return copies;
}

/** Its real path; undefined when it is missing, neither a file nor a folder, or a link to an untrusted place. */
function harmlessSource(path: string, { home, writable }: HomeOptions): string | undefined {
  const found = statOf(path);
  if (!found?.isFile() && !found?.isDirectory()) return undefined;
  const source = realpathSync(path);
  if (source === path) return source;
  const leadsToSecret = isWithin(home, source) && isSecret(source.slice(home.length + 1));
  const leadsToWritable = writable.some((folder) => isWithin(folder, source));
  return leadsToSecret || leadsToWritable || isWithin(source, home) ? undefined : source;
}

/** Covers every existing secret that would be visible. */
export function maskSecrets(tree: Tree, { home, scratch }: HomeOptions): void {
  const copied = new Set(COPIED.map(({ path }) => path));
  for (const path of MASKED) if (!copied.has(path)) addMask(tree, join(home, path), scratch);
}

/** Covers a file or folder that would be visible with an empty one. */
export function addMask(tree: Tree, at: string, { nothing }: Scratch, options?: Pick<Bind, "ifThere">): void {
  const source = tree.sourceOf(at);
  const isCovered = source === undefined || source === nothing.folder || source === nothing.file;
  const found = isCovered ? undefined : statOf(source);
  if (found) tree.add({ ...read(found.isDirectory() ? nothing.folder : nothing.file, at), ...options });
}

/** Caches that variables have put elsewhere. */
export function cachesElsewhere({ env, home }: Pick<HomeOptions, "env" | "home">): string[] {
  return CACHE_VARIABLES.flatMap(([name, part]) => {
    const value = env[name];
    if (!value?.startsWith("/") || isWithin(value, home) || value.split("/").length < MIN_CACHE_DEPTH)
      return [];
    const path = join(value, part);
    if (isWithin(home, path) && isSecret(path.slice(home.length + 1))) return [];
    return statOf(path)?.isDirectory() ? [realpathSync(path)] : [];
  });
}

/** `/` and its direct children are never a cache. */
const MIN_CACHE_DEPTH = 3;
