// `npm start` runs this: it downloads the tree-sitter grammars, 20 MB, from packages that take 320 MB when installed.
// A full install has the packages, and nothing is downloaded. Every tarball is checked against package-lock.json.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { LANGUAGES } from "../packages/search/src/syntax/languages/index.ts";

const ROOT = join(import.meta.dirname, "..");
/** Where `locate` in packages/search/src/syntax/grammars.ts looks first. */
const TARGET = join(ROOT, "packages/search/src/syntax/grammars");

const { resolve } = createRequire(import.meta.url);
const missing = LANGUAGES.map(({ grammar }) => grammar).filter((grammar) => !isHere(grammar));
if (missing.length > 0) fetchGrammars(missing);

function isHere(grammar: string): boolean {
  if (existsSync(join(TARGET, basename(grammar)))) return true;
  try {
    resolve(grammar);
    return true;
  } catch {
    return false;
  }
}

function fetchGrammars(grammars: readonly string[]): void {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const folder = mkdtempSync(join(tmpdir(), "octant-grammars-"));
  mkdirSync(TARGET, { recursive: true });
  try {
    for (const name of new Set(grammars.map((grammar) => dirname(grammar)))) {
      const { version, integrity } = packages[`node_modules/${name}`];
      process.stderr.write(`  grammar ${name} ${version}\n`);
      const tarball = join(
        folder,
        run("npm", ["pack", `${name}@${version}`, "--silent", "--pack-destination", folder]).trim(),
      );
      checkIntegrity(tarball, integrity);
      const files = grammars
        .filter((grammar) => dirname(grammar) === name)
        .map((grammar) => basename(grammar));
      run("tar", ["-xzf", tarball, "-C", folder, ...files.map((file) => `package/${file}`)]);
      for (const file of files) move(join(folder, "package", file), join(TARGET, file));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function checkIntegrity(tarball: string, expected: string): void {
  const actual = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
  if (actual !== expected)
    throw new Error(
      `${basename(tarball)} is not what package-lock.json names; nothing was installed from it`,
    );
}

/** The temp folder may be on another disk. */
function move(from: string, to: string): void {
  run("cp", [from, `${to}.part`]);
  renameSync(`${to}.part`, to);
}

function run(program: string, args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  return stdout;
}
