// `npm run release -- VERSION --owner NAME [--registry URL] [--dry-run]`: releases the last commit.
// In a temporary clone it sets the version everywhere, moves the Unreleased section of CHANGELOG.md, commits and tags,
// installs the locked packages, builds and packs. Then it publishes the tarballs and fetches the commit and the tag
// into this checkout. With --dry-run npm only checks the tarballs, and the checkout stays as it is.
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { integrityOf } from "./package/pack.ts";
import { loadManifest } from "./package/packages.ts";
import { releaseChangelog } from "./release/changelog.ts";
import { checkVersion, isPrerelease, setVersion } from "./release/versions.ts";

const REPOSITORY = join(import.meta.dirname, "..");
const USAGE = "npm run release -- VERSION --owner NAME [--registry URL] [--dry-run]";

interface Release {
  readonly version: string;
  readonly owner: string;
  readonly dryRun: boolean;
  /** npm's options for the registry. */
  readonly registry: readonly string[];
}

function main(args: string[]): number {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      owner: { type: "string" },
      registry: { type: "string" },
      "dry-run": { type: "boolean", default: false },
    },
  });
  const [version] = positionals;
  if (!version || positionals.length > 1 || !values.owner) {
    console.error(`usage: ${USAGE}`);
    return 2;
  }
  const registry = values.registry ? ["--registry", values.registry] : [];
  const temp = mkdtempSync(join(tmpdir(), "octant-release-"));
  try {
    release(temp, { version, owner: values.owner, dryRun: values["dry-run"], registry });
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

function release(temp: string, { version, owner, dryRun, registry }: Release): void {
  const tag = `v${version}`;
  check(version, tag);
  const clone = join(temp, "octant");
  run("git", ["clone", "--quiet", "--no-hardlinks", REPOSITORY, clone]);
  prepare(clone, version, tag);
  const out = join(temp, "out");
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", ...registry], clone);
  run("npm", ["run", "-s", "package", "--", "--owner", owner, "--out", out], clone);
  const label = isPrerelease(version) ? ["--tag", "next"] : [];
  for (const tarball of inPublishingOrder(join(out, "npm")))
    publish(tarball, [...label, ...registry, ...(dryRun ? ["--dry-run"] : [])], temp);
  if (dryRun) {
    console.log(`dry run: ${tag} is ready; nothing was published, and this checkout is unchanged`);
    return;
  }
  run("git", ["pull", "--quiet", "--ff-only", clone, `refs/tags/${tag}:refs/tags/${tag}`]);
  console.log(`published ${version}; now push the commit and its tag: git push --follow-tags`);
}

function check(version: string, tag: string): void {
  checkVersion(loadManifest(join(REPOSITORY, "packages/cli")).version, version);
  if (output("git", ["status", "--porcelain"])) throw new Error("commit or stash your changes first");
  if (output("git", ["tag", "--list", tag])) throw new Error(`the tag ${tag} exists already`);
}

function prepare(clone: string, version: string, tag: string): void {
  setVersion(clone, version);
  const changelog = join(clone, "CHANGELOG.md");
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(changelog, releaseChangelog(readFileSync(changelog, "utf8"), version, date));
  const [, name, email] = /^(.*) <(.*)> /.exec(output("git", ["var", "GIT_COMMITTER_IDENT"])) ?? [];
  const author = ["-c", `user.name=${name}`, "-c", `user.email=${email}`];
  run("git", [...author, "commit", "--quiet", "--all", "--message", `chore: release ${version}`], clone);
  run("git", [...author, "tag", "--annotate", "--message", tag, tag], clone);
}

/** The command comes last, so that nobody installs it before its dependencies are published. */
function inPublishingOrder(folder: string): string[] {
  const names = globSync("*/package.json", { cwd: folder }).map((path) =>
    path.slice(0, -"/package.json".length),
  );
  const isCommand = (name: string) => Number(loadManifest(join(folder, name)).bin !== undefined);
  return names
    .sort()
    .sort((a, b) => isCommand(a) - isCommand(b))
    .map((name) => join(folder, `${name}.tgz`));
}

/** A release that failed midway can be run again: packages that are published already are skipped. */
function publish(tarball: string, options: readonly string[], cwd: string): void {
  const { name, version } = loadManifest(tarball.slice(0, -".tgz".length));
  const published = publishedIntegrity(`${name}@${version}`, options, cwd);
  if (published === integrityOf(tarball)) {
    console.log(`${name} ${version} is published already`);
    return;
  }
  if (published)
    throw new Error(`${name} ${version} is published already with other files; choose a new version`);
  run("npm", ["publish", tarball, "--access", "public", "--ignore-scripts", ...options], cwd);
  console.log(`${options.includes("--dry-run") ? "would publish" : "published"} ${name} ${version}`);
}

function publishedIntegrity(name: string, options: readonly string[], cwd: string): string {
  const npm = spawnSync("npm", ["view", name, "dist.integrity", "--json", ...options], {
    cwd,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  const answer = npm.stdout.trim() === "" ? undefined : JSON.parse(npm.stdout);
  if (npm.status === 0) return answer ?? "";
  if (answer?.error?.code === "E404") return "";
  throw new Error(`npm view ${name} failed: ${npm.stderr.trim()}`);
}

function run(program: string, args: readonly string[], cwd = REPOSITORY): void {
  const { status } = spawnSync(program, args, { cwd, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) throw new Error(`${program} ${args[0]} failed; see above`);
}

function output(program: string, args: readonly string[]): string {
  const { status, stdout } = spawnSync(program, args, { cwd: REPOSITORY, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed`);
  return stdout.trim();
}

process.exitCode = main(process.argv.slice(2));
