import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { toInstall, writeContainerSettings } from "./install.ts";
import { type Project, ProjectLimits } from "./projects/project.ts";

function layOut(files: readonly string[], links: Readonly<Record<string, string>> = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "octant-install-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), "");
  }
  for (const [link, target] of Object.entries(links)) {
    mkdirSync(dirname(join(root, link)), { recursive: true });
    symlinkSync(target, join(root, link));
  }
  return root;
}

/** What a container sees of the root. */
const mounted = (root: string, launcher: string) =>
  toInstall(join(root, launcher))
    .mounts.filter(({ source }) => source.startsWith(root))
    .map(({ source, target, readOnly }) => [source.slice(root.length), target, readOnly]);

const CLI = ["package.json", "bin/octant.js"];

test("a container sees the packages of an install, and no other file of the folder that it is in", () => {
  const inProject = [".env", "package.json", "src/key.ts", "node_modules/zod/package.json"];
  const root = layOut([...inProject, ...CLI.map((file) => `node_modules/@octant/cli/${file}`)]);
  expect(mounted(root, "node_modules/@octant/cli/bin/octant.js")).toEqual([
    ["/node_modules", "/opt/octant/node_modules", true],
  ]);
});

test("a container sees a package that has its packages inside, as of a global install", () => {
  const root = layOut([
    ...["other/.env", "octant/node_modules/zod/package.json"],
    ...CLI.map((file) => `octant/${file}`),
  ]);
  expect(mounted(root, "octant/bin/octant.js")).toEqual([["/octant", "/opt/octant", true]]);
});

test("a container sees the packages of a checkout, and neither its history nor its settings", () => {
  const root = layOut(
    [
      ...[".git/config", ".env", "package.json", "node_modules/zod/package.json", "packs/hello/package.json"],
      ...CLI.map((file) => `packages/cli/${file}`),
    ],
    {
      "node_modules/@octant/cli": "../../packages/cli",
      "node_modules/@octant/pack-hello": "../../packs/hello",
      "node_modules/@octant/gone": "../../nowhere",
    },
  );
  expect(mounted(root, "node_modules/@octant/cli/bin/octant.js")).toEqual([
    ["/node_modules", "/opt/octant/node_modules", true],
    ["/packages", "/opt/octant/packages", true],
    ["/packs", "/opt/octant/packs", true],
  ]);
});

test("tools that start while the settings of their container change read the old or the new ones whole", () => {
  const folder = layOut([]);
  const project: Project = {
    ...{ id: "project_1", name: "demo", source: { empty: true }, created_at: "", updated_at: "" },
    limits: ProjectLimits.parse({}),
  };
  writeContainerSettings(folder, project);
  const file = join(folder, "hanzo", "settings.json");
  const old = openSync(file, "r");
  onTestFinished(() => closeSync(old));
  writeContainerSettings(folder, { ...project, limits: ProjectLimits.parse({ network: "on" }) });
  expect(readFileSync(old, "utf8")).toContain("without a network");
  expect(readFileSync(file, "utf8")).toContain("with a network");
  expect(readdirSync(folder)).toEqual(["hanzo"]);
});
