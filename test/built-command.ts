import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  globSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildPage } from "../scripts/build/build-page.ts";
import { bundleCommand } from "../scripts/build/bundle-command.ts";
import { copyGrammars } from "../scripts/build/copy-grammars.ts";
import { withDependencies } from "../scripts/package/bundle.ts";
import { loadManifest, toPublished } from "../scripts/package/packages.ts";
import { CONTAINED } from "./built-layout.ts";

const REPOSITORY = join(import.meta.dirname, "..");
const COMMAND = join(REPOSITORY, "packages/cli");
const BUILDS = join(REPOSITORY, "node_modules/.cache/octant-command");
const SOURCES = [
  "package-lock.json",
  "packages/*/package.json",
  "packages/*/src/**/*.*",
  "packages/cli/bin/*",
  "packages/console/page/**/*.*",
  "packages/search/data/*",
  "scripts/{build,package}/*",
  "vectors/*.json",
];
/** A test run is over by then, so the build is unused. */
const MAX_IDLE_MS = 3_600_000;

/** Builds the command once for all tests that start it: sources start six times as slowly. */
export async function setup(project: TestProject): Promise<void> {
  process.env["OCTANT_TEST_COMMAND"] = await buildCommand();
  project.onTestsRerun(async () => {
    process.env["OCTANT_TEST_COMMAND"] = await buildCommand();
  });
}

export async function buildCommand(): Promise<string> {
  const folder = join(BUILDS, hashSources());
  if (!existsSync(folder)) {
    mkdirSync(BUILDS, { recursive: true });
    removeIdle();
    const draft = mkdtempSync(join(BUILDS, "draft-"));
    await publishCommand(draft);
    try {
      renameSync(draft, folder);
    } catch {
      // Another run has built the same meanwhile.
      rmSync(draft, { recursive: true });
    }
  }
  utimesSync(folder, new Date(), new Date());
  return folder;
}

function hashSources(): string {
  const hash = createHash("sha256");
  const paths = globSync(SOURCES, { cwd: REPOSITORY }).filter((path) => !path.endsWith(".test.ts"));
  for (const path of paths.sort()) {
    const content = readFileSync(join(REPOSITORY, path));
    hash.update(`${path} ${content.length}\n`).update(content);
  }
  return hash.digest("hex").slice(0, 16);
}

function removeIdle(): void {
  for (const name of readdirSync(BUILDS)) {
    const folder = join(BUILDS, name);
    if (Date.now() - statSync(folder).mtimeMs > MAX_IDLE_MS) rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates a folder with the published command and links to its dependencies. */
async function publishCommand(folder: string): Promise<void> {
  const modules = join(folder, "node_modules");
  const to = join(modules, "@octant/cli");
  const manifest = toPublished(COMMAND, loadManifest(REPOSITORY), "someone");
  cpSync(join(COMMAND, "bin"), join(to, "bin"), { recursive: true });
  writeFileSync(join(to, "package.json"), JSON.stringify(manifest));
  await bundleCommand(join(to, "dist"));
  copyGrammars(join(to, "dist/grammars"));
  await buildPage(join(to, "dist/page"));
  // Our own are in the bundle.
  const foreign = Object.keys(manifest.dependencies ?? {}).filter((name) => !name.startsWith("@octant/"));
  for (const name of foreign) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(REPOSITORY, "node_modules", name), join(modules, name));
  }
  makeContained(to, withDependencies(foreign, join(REPOSITORY, "node_modules")), join(folder, CONTAINED));
}

/** Creates a folder with all that the command needs, for containers, which see nothing outside it. */
function makeContained(command: string, packages: readonly string[], folder: string): void {
  cpSync(command, join(folder, "node_modules/@octant/cli"), { recursive: true });
  for (const name of packages)
    linkFiles(join(REPOSITORY, "node_modules", name), join(folder, "node_modules", name));
}

function linkFiles(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkFiles(source, target);
    else linkSync(source, target);
  }
}
