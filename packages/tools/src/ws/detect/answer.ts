import { type ActionText, type Reader, Uri } from "@octant/core";
import { z } from "zod";

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
      truncated && `only ${scanned.files} files were examined`,
      ...Object.entries(omitted).map(([name, count]) => `${count} more ${name.replaceAll("_", " ")}`),
    ],
  };
}
