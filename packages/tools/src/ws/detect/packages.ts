import { setImmediate as nextTurn } from "node:timers/promises";
import type { Path } from "@octant/host";
import { ECOSYSTEMS } from "../ecosystems/index.ts";
import type { FolderEntries, ProjectFiles } from "../project-files.ts";
import type { Ecosystem, Findings } from "./ecosystem.ts";
import { toMemberTest } from "./member-pattern.ts";
import { createPackageFolder } from "./package-folder.ts";
import { isBelow, parentOf, pathBelow } from "./paths.ts";
import type { Survey, SurveyedFolder } from "./survey.ts";

/** The findings of one ecosystem in one folder. */
export interface Inspection {
  readonly path: Path;
  readonly ecosystem: Ecosystem;
  readonly findings: Findings;
  /** Whether a workspace further up declares it as a member. */
  readonly isMember: boolean;
}

const MAX_INSPECTIONS = 500;
const MAX_DECLARATIONS = 20;

/** Inspects every package of the project, the root's own first. */
export async function inspectPackages(
  { start, folders }: Survey,
  files: ProjectFiles,
  signal: AbortSignal,
): Promise<{ inspections: Inspection[]; truncated: boolean }> {
  const inspections: Inspection[] = [];
  const declarations: Declaration[] = [];
  for (const folder of folders) {
    const ecosystems = ecosystemsOf(folder);
    if (ecosystems.length === 0) continue;
    if (inspections.length >= MAX_INSPECTIONS) return { inspections, truncated: true };
    await nextTurn();
    signal.throwIfAborted();
    const view = createPackageFolder(folder, files);
    for (const ecosystem of ecosystems) {
      const { path } = folder;
      const isMember = declarations.some((one) => one.ecosystem === ecosystem && one.includes(path));
      if (!isMember && isExample(pathBelow(start.path, path))) continue;
      if (ecosystem.spansSubfolders && inspections.some((one) => spans(one, ecosystem, path))) continue;
      const findings = ecosystem.inspect(view);
      if (!findings) continue;
      const covered = isMember && ecosystem.rootRunsMembers;
      inspections.push({
        path,
        ecosystem,
        isMember,
        findings: covered ? { ...findings, build: [], test: [] } : findings,
      });
      declarations.push(...declarationsOf(path, ecosystem, findings));
      declarations.splice(MAX_DECLARATIONS);
    }
  }
  return {
    inspections: inspections.length > 0 ? inspections : inspectUnmarked(start, files),
    truncated: false,
  };
}

function inspectUnmarked(start: SurveyedFolder, files: ProjectFiles): Inspection[] {
  const view = createPackageFolder(start, files);
  return ECOSYSTEMS.flatMap((ecosystem) => {
    const findings = ecosystem.inspectUnmarked?.(view);
    return findings ? [{ path: start.path, ecosystem, isMember: false, findings }] : [];
  });
}

interface Declaration {
  readonly ecosystem: Ecosystem;
  includes(path: Path): boolean;
}

const declarationsOf = (path: Path, ecosystem: Ecosystem, { workspaces = {} }: Findings): Declaration[] =>
  Object.values(workspaces)
    .filter((members) => members.length > 0)
    .map((members) => {
      const isMember = toMemberTest(members);
      return { ecosystem, includes: (other) => isBelow(path, other) && isMember(pathBelow(path, other)) };
    });

const spans = (other: Inspection, ecosystem: Ecosystem, path: Path): boolean =>
  other.ecosystem === ecosystem && isBelow(other.path, path);

/** Test data and templates look like packages but are not. */
const isExample = (path: Path): boolean => path.split("/").some((name) => EXAMPLES.has(name));

const EXAMPLES: ReadonlySet<string> = new Set([
  "__fixtures__",
  "__snapshots__",
  "fixture",
  "fixtures",
  "template",
  "templates",
  "test-fixtures",
  "testdata",
]);

/** The ecosystems with a marker among a folder's files, in table order. */
function ecosystemsOf({ files, links }: Pick<FolderEntries, "files" | "links">): Ecosystem[] {
  const found = new Set<Ecosystem>();
  for (const name of [...files, ...links]) {
    const extension = name.slice(Math.max(0, name.lastIndexOf(".")));
    for (const marker of [name, `*${extension}`]) {
      for (const ecosystem of BY_MARKER.get(marker) ?? []) found.add(ecosystem);
    }
  }
  return found.size === 0 ? [] : ECOSYSTEMS.filter((ecosystem) => found.has(ecosystem));
}

const BY_MARKER: ReadonlyMap<string, readonly Ecosystem[]> = new Map(
  ECOSYSTEMS.flatMap(({ markers }) => markers).map((marker) => [
    marker,
    ECOSYSTEMS.filter(({ markers }) => markers.includes(marker)),
  ]),
);

/** The project of a folder: the nearest package or repository at or above it, otherwise the whole root. */
export function projectAround(entriesOf: (folder: Path) => FolderEntries, folder: Path): Path {
  for (let here = folder; here !== ""; here = parentOf(here)) {
    const entries = entriesOf(here);
    const isPackage = ecosystemsOf(entries).some(({ tasksOnly }) => !tasksOnly);
    if (isPackage || entries.folders.includes(".git") || entries.files.includes(".git")) return here;
  }
  return "";
}
