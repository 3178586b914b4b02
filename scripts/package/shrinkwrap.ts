import type { Manifest } from "./packages.ts";

/** An entry of package-lock.json; other fields are copied as they are. */
export interface Locked {
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly optional?: boolean;
  readonly license?: string;
  readonly os?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

type Own = Manifest & { readonly integrity: string };

/**
 * The lock of an install of the command: the part of the checkout's lock that the command brings, with our own
 * packages as they were packed.
 */
export function toShrinkwrap(lock: Lock, command: Manifest, packed: readonly Own[]) {
  const own = new Map(packed.map((one) => [one.name, one]));
  const needed = reach(lock, command, "required");
  const packages: Record<string, unknown> = { "": toEntry(command) };
  for (const path of [...lockedFor(lock, command)].sort()) {
    const locked = entryAt(lock, path);
    const place = toPlace(lock, command, path);
    if (packages[place])
      throw new Error(`two versions of ${place} are needed at once; run npm dedupe, then package again`);
    const name = locked.name ?? "";
    const entry = isWorkspace(path) ? toOwnEntry(own.get(name), name) : toEntry(locked);
    packages[place] = needed.has(path) ? entry : { ...entry, optional: true };
  }
  const { name, version } = command;
  return { name, version, lockfileVersion: 3, requires: true, packages };
}

/** The lock's paths of everything that the command depends on, directly or not, on any platform. */
export const lockedFor = (lock: Lock, command: Manifest): Set<string> => reach(lock, command, "all");

function reach(lock: Lock, command: Manifest, kind: "required" | "all"): Set<string> {
  const found = new Set<string>();
  const start = Object.entries(lock.packages).find(([, { name, link }]) => name === command.name && !link);
  if (!start) throw new Error(`package-lock.json has no ${command.name}; run npm install`);
  const pending: (readonly [string, Locked])[] = [[start[0], command]];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [user, { dependencies, optionalDependencies = {}, peerDependencies = {}, ...rest }] = next;
    const peers = Object.keys(peerDependencies).filter(
      (name) => !rest.peerDependenciesMeta?.[name]?.optional,
    );
    // npm lists an optional dependency under `dependencies` too.
    const required = Object.keys(dependencies ?? {}).filter((name) => !(name in optionalDependencies));
    const optional = kind === "all" ? Object.keys(optionalDependencies) : [];
    for (const name of [...required, ...peers, ...optional]) {
      const path = find(lock, user, name);
      if (path === undefined && optional.includes(name)) continue;
      if (path === undefined) throw new Error(`package-lock.json has no ${name}, which ${user} needs`);
      if (!found.has(path)) pending.push([path, entryAt(lock, path)]);
      found.add(path);
    }
  }
  return found;
}

/** Where Node finds a package: beside its user, then in each folder above. Links are followed. */
function find({ packages }: Lock, user: string, name: string): string | undefined {
  const parts = user.split("/");
  const folders = [...parts.map((_, at) => `${parts.slice(0, parts.length - at).join("/")}/`), ""];
  const path = folders.map((folder) => `${folder}node_modules/${name}`).find((one) => packages[one]);
  return path === undefined ? undefined : packages[path]?.link ? packages[path].resolved : path;
}

/** Where the entry belongs in an install of the command. */
function toPlace(lock: Lock, command: Manifest, path: string): string {
  const [folder = path, below] = path.split(/\/(?=node_modules\/)(.*)/s);
  if (!isWorkspace(folder)) return path;
  const { name } = entryAt(lock, folder);
  const place = name === command.name ? "" : `node_modules/${name}`;
  return below === undefined ? place : `${place}${place && "/"}${below}`;
}

const isWorkspace = (path: string) => !/(^|\/)node_modules\//.test(path);

const entryAt = ({ packages }: Lock, path: string): Locked => packages[path] ?? {};

function toOwnEntry(own: Own | undefined, name: string): object {
  if (!own) throw new Error(`${name} is needed by the command and is private`);
  return { ...toEntry(own), integrity: own.integrity };
}

/** The fields that npm reads in a lock. */
function toEntry(locked: Locked): object {
  const fields = Object.entries(locked).filter(([name]) => LOCK_FIELDS.has(name));
  return Object.fromEntries(fields);
}

const LOCK_FIELDS = new Set([
  "name",
  "version",
  "resolved",
  "integrity",
  "license",
  "bin",
  "os",
  "cpu",
  "libc",
  "engines",
  "hasInstallScript",
  "dependencies",
  "optionalDependencies",
  "peerDependencies",
  "peerDependenciesMeta",
]);
