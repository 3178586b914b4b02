import type { Path } from "@octant/host";
import type { ProjectFiles } from "../project-files.ts";
import { findGit } from "./git.ts";
import { languagesOf } from "./languages.ts";
import { type Inspection, inspectPackages } from "./packages.ts";
import { nameOf, parentOf, resolvePath } from "./paths.ts";
import { CI, CONTAINERS, findSigns, findSignsAbove, INSTRUCTIONS } from "./signs.ts";
import { survey } from "./survey.ts";

export type Project = Awaited<ReturnType<typeof describeProject>>;

/** Everything known about the project at `start`, with paths relative to the workspace root. */
export async function describeProject(files: ProjectFiles, start: Path, signal: AbortSignal) {
  const surveyed = await survey(files, start, signal);
  const { inspections, truncated } = await inspectPackages(surveyed, files, signal);
  const packages = packagesOf(inspections, files.root);
  const workspaces = inspections.flatMap(({ path, findings }) =>
    (findings.workspaces ?? []).map(({ tool }) => ({ name: tool, path })),
  );
  const others = packages.filter(({ path }) => path !== start);
  return {
    start,
    name: packages.find(({ path }) => path === start)?.name ?? (nameOf(start) || nameOf(files.root)),
    languages: languagesOf(surveyed),
    managers: unique(
      inspections.flatMap(({ path, findings }) => resolved(path, findings.managers, (one) => one.from)),
      ({ name }) => name,
    ),
    build: inspections.flatMap(({ path, findings }) =>
      (findings.build ?? []).map((command) => ({ ...command, cwd: path })),
    ),
    test: inspections.flatMap(({ path, findings }) =>
      (findings.test ?? []).map((command) => ({ ...command, cwd: path })),
    ),
    frameworks: unique(
      inspections.flatMap(({ path, findings }) =>
        (findings.frameworks ?? []).map((name) => ({ name, path })),
      ),
      ({ name }) => name,
    ),
    entryPoints: unique(
      inspections.flatMap(({ path, findings }) => resolved(path, findings.entryPoints, (one) => one.path)),
      ({ path, name }) => `${path}\0${name}`,
    ).map((entry) => ({ ...entry, exists: isListed(files, entry.path) })),
    monorepo: workspaces.length + others.length > 0 ? { tools: workspaces, packages: others } : undefined,
    git: findGit(files, start),
    instructions: [
      ...findSignsAbove(INSTRUCTIONS, start, files),
      ...findSigns(INSTRUCTIONS, surveyed, files),
    ],
    containers: findSigns(CONTAINERS, surveyed, files),
    ci: findSigns(CI, surveyed, files),
    scanned: { files: surveyed.files, folders: surveyed.folders.length },
    truncated: surveyed.truncated || truncated,
  };
}

/** A folder is one package, even with several ecosystems. */
function packagesOf(inspections: readonly Inspection[], root: Path) {
  const real = inspections.filter(({ ecosystem }) => !ecosystem.tasksOnly);
  return [...Map.groupBy(real, ({ path }) => path)].map(([path, group]) => ({
    path,
    name: group.find(({ findings }) => findings.name)?.findings.name ?? nameOf(path === "" ? root : path),
    ecosystems: group.map(({ ecosystem }) => ecosystem.name),
    managers: [...new Set(group.flatMap(({ findings }) => findings.managers ?? []).map(({ name }) => name))],
    member: group.some(({ isMember }) => isMember),
  }));
}

/** The findings with paths relative to the workspace; those outside of it are dropped. */
function resolved<T>(
  folder: Path,
  found: readonly T[] = [],
  pathOf: (one: T) => Path,
): (T & { path: Path })[] {
  return found.flatMap((one) => {
    const path = resolvePath(folder, pathOf(one));
    return path === undefined ? [] : [{ ...one, path }];
  });
}

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
