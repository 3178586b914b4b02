import { type ActionText, type Reader, Uri } from "@octant/core";
import { type Path, pathToUri } from "@octant/host";
import { z } from "zod";
import type { ProjectFiles } from "../project-files.ts";
import type { Project } from "./describe.ts";

/** Every `uri` can be read; `cwd` is where to run a command. */
export const Detected = z.object({
  root: Uri,
  roots: z.array(Uri).describe("All folders of the workspace"),
  name: z.string(),
  languages: z.array(z.object({ name: z.string(), files: z.int(), share: z.number() })),
  package_managers: z.array(z.object({ name: z.string(), uri: Uri.describe("The file that declares it") })),
  build: z.array(z.object({ name: z.string(), command: z.array(z.string()), cwd: Uri })),
  test: z.array(z.object({ runner: z.string(), command: z.array(z.string()), cwd: Uri })),
  frameworks: z.array(z.object({ name: z.string(), uri: Uri.describe("A package that uses it") })),
  entry_points: z.array(
    z.object({
      uri: Uri,
      kind: z.string(),
      name: z.string().optional(),
      exists: z.boolean().describe("false: it must be built first"),
    }),
  ),
  monorepo: z
    .object({
      tools: z.array(z.object({ name: z.string(), uri: Uri })),
      packages: z.array(
        z.object({
          name: z.string(),
          uri: Uri,
          ecosystems: z.array(z.string()),
          managers: z.array(z.string()),
          member: z.boolean().describe("Declared by one of the tools"),
        }),
      ),
    })
    .nullable(),
  vcs: z
    .object({
      kind: z.literal("git"),
      uri: Uri.describe("The root of the working tree"),
      branch: z.string().nullable(),
      commit: z.string().optional().describe("When HEAD is detached"),
      linked: z.boolean().describe("A worktree or submodule: the repository is elsewhere"),
    })
    .nullable(),
  instructions: z.array(Uri).describe("Instructions for agents and contributors; read these first"),
  containers: z.array(Uri),
  ci: z.array(Uri),
  problems: z.array(z.object({ uri: Uri, message: z.string() })).describe("Manifests that could not be read"),
  scanned: z.object({ files: z.int(), folders: z.int() }),
  truncated: z.boolean().describe("The project is larger than the part that was scanned"),
  omitted: z.record(z.string(), z.int()).describe("Items omitted from a list; ask for a subfolder"),
});

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

/** The project with uris for paths, reduced to the budget. */
export function toAnswer(
  project: Project,
  files: ProjectFiles,
  roots: readonly Path[],
  budgetBytes: number,
): z.input<typeof Detected> {
  const located = <T extends { path: Path }>({ path, ...rest }: T) => ({ ...rest, uri: files.uri(path) });
  const runnable = <T extends { cwd: Path; command: readonly string[] }>(one: T) => ({
    ...one,
    command: [...one.command],
    cwd: files.uri(one.cwd),
  });
  const fixed = {
    root: files.uri(project.start),
    roots: roots.map(pathToUri),
    name: project.name,
    vcs: project.git ? toVcs(project.git, files) : null,
    scanned: project.scanned,
    truncated: project.truncated,
  };
  const { lists, omitted } = fitLists(
    {
      languages: project.languages,
      package_managers: project.managers.map(({ name, path }) => ({ name, uri: files.uri(path) })),
      build: project.build.map(runnable),
      test: project.test.map(runnable),
      frameworks: project.frameworks.map(located),
      entry_points: project.entryPoints.map(located),
      tools: (project.monorepo?.tools ?? []).map(located),
      packages: (project.monorepo?.packages ?? []).map(located),
      instructions: project.instructions.map(files.uri),
      containers: project.containers.map(files.uri),
      ci: project.ci.map(files.uri),
      problems: files.problems.map(({ path, message }) => ({
        uri: files.uri(path),
        message: message.slice(0, MAX_MESSAGE_CHARS),
      })),
    },
    LIMITS,
    budgetBytes - Buffer.byteLength(JSON.stringify(fixed)),
  );
  const { tools, packages, ...others } = lists;
  return { ...fixed, ...others, monorepo: project.monorepo ? { tools, packages } : null, omitted };
}

const toVcs = ({ top, ...git }: NonNullable<Project["git"]>, files: ProjectFiles) => ({
  kind: "git" as const,
  uri: files.uri(top),
  ...git,
});

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

/** One line per fact about the project. */
export function detectedText(data: z.output<typeof Detected>, { path }: Reader): ActionText {
  const { vcs, monorepo, omitted, scanned, truncated } = data;
  const named = ({ name, uri }: { name: string; uri: string }) => `${name} (${path(uri)})`;
  const command = (words: readonly string[], cwd: string) =>
    `${words.join(" ")}${path(cwd) === "." ? "" : ` in ${path(cwd)}`}`;
  const lines: [string, readonly string[]][] = [
    ["languages", data.languages.map(({ name, share }) => `${name} ${Math.round(share * 100)} %`)],
    ["package managers", data.package_managers.map(named)],
    ["build", data.build.map((one) => `${one.name}: ${command(one.command, one.cwd)}`)],
    ["test", data.test.map((one) => `${command(one.command, one.cwd)} (${one.runner})`)],
    ["frameworks", data.frameworks.map(named)],
    [
      "entry points",
      data.entry_points.map((one) => `${path(one.uri)} (${one.kind}${one.exists ? "" : ", built first"})`),
    ],
    ["monorepo", monorepo ? monorepo.tools.map(named) : []],
    ["packages", monorepo ? monorepo.packages.map(named) : []],
    [
      "git",
      vcs
        ? [
            `${vcs.branch ?? `detached at ${vcs.commit}`}${path(vcs.uri) === "." ? "" : `, top ${path(vcs.uri)}`}`,
          ]
        : [],
    ],
    ["read first", data.instructions.map(path)],
    ["containers", data.containers.map(path)],
    ["CI", data.ci.map(path)],
    ["problems", data.problems.map(({ uri, message }) => `${path(uri)}: ${message}`)],
  ];
  const others = data.roots.filter((root) => root !== data.root).map(path);
  return {
    body: [
      `${data.name} in ${path(data.root)}${others.length > 0 ? ` (other roots: ${others.join(", ")})` : ""}`,
      ...lines.flatMap(([name, items]) => (items.length > 0 ? [`${name}: ${items.join("; ")}`] : [])),
    ].join("\n"),
    notes: [
      truncated && `only ${scanned.files} files were looked at`,
      ...Object.entries(omitted).map(([name, count]) => `${count} more ${name.replaceAll("_", " ")}`),
    ],
  };
}
