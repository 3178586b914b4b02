import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-rc\.(\d+))?$/;

/** npm installs these only for people who ask for them. */
export const isPrerelease = (version: string): boolean => version.includes("-");

export function checkVersion(current: string, next: string): void {
  if (!VERSION.test(next)) throw new Error(`invalid version '${next}'; write 1.2.3 or 1.2.3-rc.1`);
  if (compareVersions(next, current) <= 0)
    throw new Error(`version ${next} is not above the current version ${current}`);
}

function compareVersions(a: string, b: string): number {
  // A release is above all of its candidates.
  const parts = (version: string) =>
    (VERSION.exec(version) ?? []).slice(1).map((part) => (part === undefined ? Infinity : Number(part)));
  const theirs = parts(b);
  return (
    parts(a)
      .map((part, at) => (part === theirs[at] ? 0 : part - (theirs[at] ?? 0)))
      .find((difference) => difference !== 0) ?? 0
  );
}

interface Versioned {
  name?: string;
  version?: string;
  [kind: `${string}ependencies`]: Record<string, string> | undefined;
}

/** Sets the version of every package, of their dependencies on each other, and of the lock. */
export function setVersion(repository: string, version: string): void {
  const manifests = globSync("{packages,packs}/*/package.json", { cwd: repository }).sort();
  const names = new Set(manifests.map((path) => load(repository, path).name ?? ""));
  for (const path of manifests) {
    const manifest: Versioned = load(repository, path);
    store(repository, path, bump(manifest, names, version));
  }
  const lock: { packages: Record<string, Versioned> } = load(repository, "package-lock.json");
  for (const path of manifests) {
    const entry = lock.packages[path.slice(0, -"/package.json".length)];
    if (!entry) throw new Error(`package-lock.json has no ${path}; run npm install`);
    bump(entry, names, version);
  }
  store(repository, "package-lock.json", lock);
}

function bump(manifest: Versioned, names: ReadonlySet<string>, version: string): Versioned {
  manifest.version = version;
  for (const kind of ["dependencies", "devDependencies", "peerDependencies"] as const)
    for (const name of Object.keys(manifest[kind] ?? {}))
      if (names.has(name)) manifest[kind] = { ...manifest[kind], [name]: version };
  return manifest;
}

const load = (repository: string, path: string) => JSON.parse(readFileSync(join(repository, path), "utf8"));

const store = (repository: string, path: string, value: unknown) =>
  writeFileSync(join(repository, path), `${JSON.stringify(value, null, 2)}\n`);
