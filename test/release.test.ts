import { spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { releaseChangelog } from "../scripts/release/changelog.ts";
import { checkVersion } from "../scripts/release/versions.ts";
import { createNpmRegistry, readTar } from "./npm-registry.ts";

const REPOSITORY = join(import.meta.dirname, "..");
const LOCKED = "1.0.0";
const NEWER = "1.1.0";

let base: string;
let checkout: string;
let registry: Awaited<ReturnType<typeof createNpmRegistry>>;

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-release-test-")));
  mkdirSync(join(base, "home"));
  mkdirSync(join(base, "temp"));
  registry = await createNpmRegistry();
  writeFileSync(join(base, "home/.npmrc"), registry.npmrc);
  checkout = join(base, "checkout");
  await publishDependency(LOCKED);
  await makeCheckout();
  await publishDependency(NEWER);
}, 120_000);
afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  rmSync(base, { recursive: true, force: true });
});

/** Runs a program with an own home, npm cache and temp folder. */
function run(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ status: number | null; text: string }> {
  const env = {
    HOME: join(base, "home"),
    TMPDIR: join(base, "temp"),
    PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`,
    npm_config_registry: registry.url,
    npm_config_cache: join(base, "npm-cache"),
    NODE_DISABLE_COMPILE_CACHE: "1",
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    GIT_AUTHOR_NAME: "Ann",
    GIT_AUTHOR_EMAIL: "ann@example.com",
    GIT_COMMITTER_NAME: "Ann",
    GIT_COMMITTER_EMAIL: "ann@example.com",
  };
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, text }));
  });
}

async function succeed(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { status, text } = await run(program, args, cwd);
  expect(status, text).toBe(0);
  return text.trim();
}

/** Two packages of other people: `deep` is a dependency of `wide`, which accepts any newer version. */
async function publishDependency(version: string): Promise<void> {
  for (const [name, dependencies] of [
    ["deep", {}],
    ["wide", { deep: "^1.0.0" }],
  ] as const) {
    const folder = join(base, "others", name);
    write(folder, { "package.json": { name, version, dependencies, license: "MIT" } });
    await succeed("npm", ["publish"], folder);
  }
}

/** A repository of two packages with our scripts, and a build that only makes the folders. */
async function makeCheckout(): Promise<void> {
  const manifest = { version: "0.1.0", license: "MIT", files: ["dist"] };
  write(checkout, {
    "package.json": {
      private: true,
      type: "module",
      workspaces: ["packages/*"],
      scripts: { package: "node scripts/package.ts", release: "node scripts/release.ts" },
    },
    ".gitignore": "node_modules/\ndist/\n",
    LICENSE: "MIT",
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n- Something new\n",
    "packages/core/package.json": { name: "@octant/core", ...manifest, dependencies: { wide: "^1.0.0" } },
    "packages/core/README.md": "the core",
    "packages/core/src.js": "core();",
    "packages/cli/package.json": {
      name: "@octant/cli",
      ...manifest,
      bin: { octant: "dist/index.js" },
      dependencies: { "@octant/core": "0.1.0" },
    },
    "packages/cli/README.md": "the command",
    "packages/cli/src.js": "#!/usr/bin/env node\nconsole.log('it runs');",
    "scripts/build.ts": `import { cpSync } from "node:fs";
      for (const name of ["core", "cli"])
        cpSync(\`packages/\${name}/src.js\`, \`packages/\${name}/dist/index.js\`);`,
  });
  for (const path of ["package", "package.ts", "release", "release.ts"])
    cpSync(join(REPOSITORY, "scripts", path), join(checkout, "scripts", path), { recursive: true });
  await succeed("npm", ["install", "--package-lock-only"], checkout);
  await succeed("git", ["init", "--quiet", "--initial-branch=main"], checkout);
  await succeed("git", ["add", "."], checkout);
  await succeed("git", ["commit", "--quiet", "--message", "first"], checkout);
}

function write(folder: string, files: Readonly<Record<string, unknown>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(
      join(folder, path),
      typeof content === "string" ? content : JSON.stringify(content, null, 2),
    );
  }
}

const release = (...args: string[]) =>
  run(
    "npm",
    ["run", "-s", "release", "--", "--owner", "someone", "--registry", registry.url, ...args],
    checkout,
  );
const git = (...args: string[]) => succeed("git", args, checkout);
const versionIn = (path: string) => JSON.parse(readFileSync(join(checkout, path), "utf8")).version;
const tarball = (name: string, version: string) =>
  readTar(gunzipSync(registry.packages.get(`@octant/${name}`)?.tarballs.get(`${name}-${version}.tgz`) ?? ""));
/** The version of a package in an install of the command, wherever npm put it. */
async function installed(folder: string, name: string): Promise<string[]> {
  const paths = await succeed("find", [folder, "-path", `*node_modules/${name}/package.json`], base);
  return paths.split("\n").map((path) => JSON.parse(readFileSync(path, "utf8")).version);
}

describe("a release", { timeout: 120_000 }, () => {
  test("leaves no trace in a dry run", async () => {
    const { status, text } = await release("0.2.0-rc.1", "--dry-run");
    expect(text).toContain("dry run: v0.2.0-rc.1 is ready");
    expect(text).toContain("would publish @octant/cli 0.2.0-rc.1");
    expect(status).toBe(0);
    expect([...registry.packages.keys()].sort()).toEqual(["deep", "wide"]);
    expect(await git("status", "--porcelain", "--ignored")).toBe("");
    expect(await git("tag")).toBe("");
    expect(versionIn("packages/cli/package.json")).toBe("0.1.0");
    expect(readdirSync(join(base, "temp"))).toEqual([]);
  });

  test("is refused while changes are not committed", async () => {
    writeFileSync(join(checkout, "new.txt"), "");
    expect(await release("0.2.0")).toMatchObject({
      status: 1,
      text: expect.stringContaining("commit or stash"),
    });
    rmSync(join(checkout, "new.txt"));
  });

  test("sets all versions, moves the changelog, tags and publishes", async () => {
    const { status, text } = await release("0.2.0");
    expect(status, text).toBe(0);
    for (const path of ["packages/cli/package.json", "packages/core/package.json"])
      expect(versionIn(path)).toBe("0.2.0");
    const { packages } = JSON.parse(readFileSync(join(checkout, "package-lock.json"), "utf8"));
    expect(packages["packages/cli"]).toMatchObject({
      version: "0.2.0",
      dependencies: { "@octant/core": "0.2.0" },
    });
    // npm agrees with the lock.
    await succeed("npm", ["ls", "--package-lock-only", "--all"], checkout);
    expect(readFileSync(join(checkout, "CHANGELOG.md"), "utf8")).toMatch(
      /## \[Unreleased\]\n\n## \[0\.2\.0\] - \d{4}-\d\d-\d\d\n\n- Something new\n$/,
    );
    expect(await git("log", "-1", "--format=%s %an")).toBe("chore: release 0.2.0 Ann");
    expect(await git("rev-parse", "v0.2.0^{commit}")).toBe(await git("rev-parse", "HEAD"));
    expect(await git("status", "--porcelain", "--ignored")).toBe("");
    expect(registry.packages.get("@octant/core")?.["dist-tags"]).toEqual({ latest: "0.2.0" });
  });

  test("publishes each package with its own README and repository", () => {
    expect(tarball("core", "0.2.0").get("package/README.md")?.toString()).toBe("the core");
    expect(tarball("cli", "0.2.0").get("package/README.md")?.toString()).toBe("the command");
    expect(JSON.parse(String(tarball("core", "0.2.0").get("package/package.json")))).toMatchObject({
      repository: { url: "git+https://github.com/someone/octant.git", directory: "packages/core" },
    });
  });

  test("pins all dependencies of the command, and only of the command", async () => {
    const folder = join(base, "user");
    write(folder, { "package.json": { private: true } });
    await succeed("npm", ["install", "@octant/cli"], folder);
    expect(await installed(folder, "wide")).toEqual([LOCKED]);
    expect(await installed(folder, "deep")).toEqual([LOCKED]);
    expect(await succeed("npx", ["--no-install", "octant"], folder)).toBe("it runs");
    const library = join(base, "library-user");
    write(library, { "package.json": { private: true } });
    await succeed("npm", ["install", "@octant/core"], library);
    expect(await installed(library, "deep")).toEqual([NEWER]);
  });

  test("refuses to install a package of ours whose tarball was replaced", async () => {
    const core = registry.packages.get("@octant/core");
    const [file, original] = [...(core?.tarballs ?? [])][0] ?? ["", Buffer.alloc(0)];
    const document = core?.versions["0.2.0"];
    if (!core || !document) throw new Error("core is not published");
    // The registry vouches for the replacement; only the pin can tell.
    const replaced = registry.packages.get("deep")?.tarballs.get(`deep-${NEWER}.tgz`) ?? Buffer.alloc(0);
    core.tarballs.set(file, replaced);
    const { integrity: _, ...dist } = document.dist;
    core.versions["0.2.0"] = { ...document, dist: dist as typeof document.dist }; // Left out on purpose.
    const folder = join(base, "second-user");
    write(folder, { "package.json": { private: true } });
    const { status, text } = await run(
      "npm",
      ["install", "@octant/cli", "--cache", join(base, "empty"), "--fetch-retries=0"],
      folder,
    );
    core.tarballs.set(file, original);
    core.versions["0.2.0"] = document;
    expect(text).toContain("EINTEGRITY");
    expect(status).not.toBe(0);
  });

  test("that stopped midway is taken up again without publishing anything twice", async () => {
    // As if it had stopped before the command was published.
    const cli = registry.packages.get("@octant/cli");
    delete cli?.versions["0.2.0"];
    await git("reset", "--quiet", "--hard", "HEAD~1");
    await git("tag", "--delete", "v0.2.0");
    const { status, text } = await release("0.2.0");
    expect(text).toContain("@octant/core 0.2.0 is published already");
    expect(status).toBe(0);
    expect(Object.keys(cli?.versions ?? {})).toEqual(["0.2.0"]);
    expect(await git("tag")).toBe("v0.2.0");
  });
});

test.each([
  ["0.1.0", "0.1.0"],
  ["0.2.0", "0.1.9"],
  ["0.2.0", "0.2.0-rc.1"],
  ["0.2.0-rc.2", "0.2.0-rc.1"],
])("after %s, %s is not a new version", (current, next) => {
  expect(() => checkVersion(current, next)).toThrow("is not above the current version");
});

test.each([
  ["0.9.0", "0.10.0"],
  ["0.2.0-rc.1", "0.2.0"],
  ["0.1.0", "0.2.0-rc.1"],
])("after %s, %s is a new version", (current, next) => {
  expect(() => checkVersion(current, next)).not.toThrow();
});

test("a changelog without entries is not released", () => {
  expect(() => releaseChangelog("## [Unreleased]\n\n## [0.1.0]\n- Old\n", "0.2.0", "2026-01-01")).toThrow(
    "no entries",
  );
  expect(() => releaseChangelog("# Changelog\n", "0.2.0", "2026-01-01")).toThrow("no section");
});
