import { type Path, pathToUri } from "@octant/host";
import type { z } from "zod";
import type { ProjectFiles } from "../project-files.ts";
import type { Detected } from "./answer.ts";
import type { Commands } from "./ecosystem.ts";
import { findGit } from "./git.ts";
import { languagesOf } from "./languages.ts";
import { type Inspection, inspectPackages } from "./packages.ts";
import { nameOf, parentOf, resolvePath } from "./paths.ts";
import { CI, CONTAINERS, findSigns, findSignsAbove, INSTRUCTIONS } from "./signs.ts";
import { survey } from "./survey.ts";

const LIMITS = {
  languages: 20,
  package_managers: 20,
  build: 60,
  test: 60,
  frameworks: 40,
  entry_points: 40,
  tools: 20,
  packages: 100,
  instructions: 40,
  containers: 20,
  ci: 20,
  problems: 20,
} as const;

const MAX_MESSAGE_CHARS = 200;

/** Everything known about the project at `start`, reduced to the budget. */
export async function describeProject(
  files: ProjectFiles,
  start: Path,
  roots: readonly Path[],
  budgetBytes: number,
  signal: AbortSignal,
): Promise<z.input<typeof Detected>> {
  const surveyed = await survey(files, start, signal);
  const { inspections, truncated } = await inspectPackages(surveyed, files, signal);
  const packages = packagesOf(inspections, files.root);
  const all = <T>(found: (one: Inspection) => readonly T[] | undefined): T[] =>
    inspections.flatMap((one) => found(one) ?? []);
  const located = <T extends { path: Path }>({ path, ...rest }: T) => ({ ...rest, uri: files.uri(path) });
  const runnable = (cwd: Path, commands: Commands = []) =>
    commands.map(([name, command]) => ({ name, command: [...command], cwd: files.uri(cwd) }));
  const fixed = {
    root: files.uri(start),
    roots: roots.map(pathToUri),
    name: packages.find(({ path }) => path === start)?.name ?? (nameOf(start) || nameOf(files.root)),
    vcs: findGit(roots, files.absolute(start)),
    scanned: { files: surveyed.files, folders: surveyed.folders.length },
    truncated: surveyed.truncated || truncated,
  };
  const { lists, omitted } = fitLists(
    {
      languages: languagesOf(surveyed),
      package_managers: unique(
        all(({ path, findings }) =>
          resolved(
            path,
            Object.entries(findings.managers ?? {}).map(([name, from]) => ({ name, path: from })),
          ),
        ),
        ({ name }) => name,
      ).map(located),
      build: all(({ path, findings }) => runnable(path, findings.build)),
      test: all(({ path, findings }) =>
        runnable(path, findings.test).map(({ name, ...rest }) => ({ runner: name, ...rest })),
      ),
      frameworks: unique(
        all(({ path, findings }) => findings.frameworks?.map((name) => ({ name, uri: files.uri(path) }))),
        ({ name }) => name,
      ),
      entry_points: unique(
        all(({ path, findings }) => resolved(path, findings.entryPoints)),
        ({ path, name }) => `${path}\0${name}`,
      ).map((entry) => located({ ...entry, exists: isListed(files, entry.path) })),
      tools: all(({ path, findings }) =>
        Object.keys(findings.workspaces ?? {}).map((name) => ({ name, uri: files.uri(path) })),
      ),
      packages: packages.filter(({ path }) => path !== start).map(located),
      instructions: [
        ...findSignsAbove(INSTRUCTIONS, start, files),
        ...findSigns(INSTRUCTIONS, surveyed, files),
      ].map(files.uri),
      containers: findSigns(CONTAINERS, surveyed, files).map(files.uri),
      ci: findSigns(CI, surveyed, files).map(files.uri),
      problems: files.problems.map(({ path, message }) => ({
        uri: files.uri(path),
        message: message.slice(0, MAX_MESSAGE_CHARS),
      })),
    },
    LIMITS,
    budgetBytes - Buffer.byteLength(JSON.stringify(fixed)),
  );
  const { tools, packages: others, ...rest } = lists;
  const isMonorepo = tools.length + others.length + (omitted["tools"] ?? 0) + (omitted["packages"] ?? 0) > 0;
  return { ...fixed, ...rest, monorepo: isMonorepo ? { tools, packages: others } : null, omitted };
}

/** A folder is one package, even with several ecosystems. */
function packagesOf(inspections: readonly Inspection[], root: Path) {
  const real = inspections.filter(({ ecosystem }) => !ecosystem.tasksOnly);
  return [...Map.groupBy(real, ({ path }) => path)].map(([path, group]) => ({
    path,
    name: group.find(({ findings }) => findings.name)?.findings.name ?? nameOf(path === "" ? root : path),
    ecosystems: group.map(({ ecosystem }) => ecosystem.name),
    managers: [...new Set(group.flatMap(({ findings }) => Object.keys(findings.managers ?? {})))],
    member: group.some(({ isMember }) => isMember),
  }));
}

/** The findings with paths relative to the workspace; those outside of it are dropped. */
const resolved = <T extends { readonly path: Path }>(folder: Path, found: readonly T[] = []) =>
  found.flatMap((one) => {
    const path = resolvePath(folder, one.path);
    return path === undefined ? [] : [{ ...one, path }];
  });

const isListed = (files: ProjectFiles, path: Path): boolean => {
  const { files: names, links } = files.entries(parentOf(path));
  return names.includes(nameOf(path)) || links.includes(nameOf(path));
};

function unique<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const isNew = !seen.has(keyOf(item));
    seen.add(keyOf(item));
    return isNew;
  });
}

type Lists = Readonly<Record<string, readonly unknown[]>>;

/** The number of items omitted from each list; complete lists are absent. */
type Omitted = Record<string, number>;

/**
 * Shortens lists from their ends until each is within its limit and all together within the budget. The largest list
 * is shortened first, so that one long list does not displace the others.
 */
function fitLists<L extends Lists>(
  lists: L,
  limits: { readonly [K in keyof L]: number },
  budgetBytes: number,
): { lists: L; omitted: Omitted } {
  const measured = Object.entries(lists).map(([name, items]) => {
    const kept = items.slice(0, limits[name]);
    const sizes = kept.map(sizeOf);
    return { name, items, sizes, size: sizes.reduce((sum, size) => sum + size, 0) };
  });
  let total = measured.reduce((sum, { size }) => sum + size, 0);
  while (total > budgetBytes) {
    const largest = measured.reduce((most, one) => (one.size > most.size ? one : most));
    const freed = largest.sizes.pop();
    if (freed === undefined) break;
    largest.size -= freed;
    total -= freed;
  }
  const fitted = measured.map(({ name, items, sizes }) => [name, items.slice(0, sizes.length)]);
  const omitted = measured
    .filter(({ items, sizes }) => sizes.length < items.length)
    .map(({ name, items, sizes }) => [name, items.length - sizes.length]);
  // The same keys with fewer items.
  return { lists: Object.fromEntries(fitted) as L, omitted: Object.fromEntries(omitted) };
}

const sizeOf = (item: unknown): number => Buffer.byteLength(JSON.stringify(item)) + 1;
