import { Uri } from "@octant/core";
import { type Path, pathToUri } from "@octant/host";
import { z } from "zod";
import type { ProjectFiles } from "../project-files.ts";
import type { Project } from "./describe.ts";
import { fitLists } from "./fit.ts";

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
