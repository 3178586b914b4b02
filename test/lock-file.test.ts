import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

interface Locked {
  /** npm ci goes on without it, and without what it needs. */
  readonly optional?: true;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

test("the lock file holds every package that npm ci looks for, those of other platforms included", () => {
  const file = join(import.meta.dirname, "../package-lock.json");
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(readFileSync(file, "utf8"));
  const missing = Object.entries(packages)
    .filter(([, { optional }]) => !optional)
    .flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !placesOf(path, name).some((place) => place in packages))
        .map((name) => `${name} of ${path}`),
    );
  expect(missing).toEqual([]);
});

/** Where Node looks for a package: beside its user, then in each folder above. */
function placesOf(path: string, name: string): string[] {
  const folders = path.split("/").map((_, at, parts) => parts.slice(0, parts.length - at).join("/"));
  return [...folders.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`];
}
