import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom, pick } from "./random.ts";

const SOURCE_FILES = 6_000;
const IGNORED_FILES = 600;
const FILES_PER_FOLDER = 20;
const FOLDERS_PER_PACKAGE = 15;
const TEST_FILE_EVERY = 12;
const RARE_FILE_EVERY = 2_000;
export const SMALL_BYTES = 1024;
export const BIG_BYTES = 1024 * 1024;
export const FLAT_ENTRIES = 1_000;
const SMALL_FILES = 32;

export const COMMON_PATTERN = "return";
export const RARE_PATTERN = "needle_in_the_hay";
export const rareMatchesIn = (sourceFiles: number): number => Math.floor(sourceFiles / RARE_FILE_EVERY);
export const RARE_MATCHES = rareMatchesIn(SOURCE_FILES);
export const GLOB = "**/*.test.ts";
export const GLOB_MATCHES = Math.ceil(SOURCE_FILES / TEST_FILE_EVERY);

/** Paths are relative to the root. */
export interface Tree {
  readonly root: string;
  readonly smallFiles: readonly string[];
  readonly bigFile: string;
  readonly flatFolder: string;
}

/** A project of source-like text: the same files for the same seed, on every machine. */
export function growTree(root: string, seed: number, sourceFiles = SOURCE_FILES): Tree {
  const random = createRandom(seed);
  const smallFiles = Array.from({ length: SMALL_FILES }, (_, n) => `small/module-${n}.ts`);
  // Ripgrep obeys a .gitignore only inside a repository.
  for (const folder of [".git", "small", "flat"]) mkdirSync(join(root, folder));
  writeFileSync(join(root, ".git", "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(root, ".gitignore"), "dist/\n*.log\n/cache/**/*.tmp\n!keep.log\n");
  writeFileSync(join(root, "big.ts"), exactly(BIG_BYTES, random));
  for (const path of smallFiles) writeFileSync(join(root, path), exactly(SMALL_BYTES, random));
  for (let n = 0; n < FLAT_ENTRIES; n++) writeFileSync(join(root, "flat", `entry-${n}.txt`), `entry ${n}\n`);
  for (let n = 0; n < sourceFiles; n++) writeSource(folderOf(root, "src", n), n, random);
  for (let n = 0; n < IGNORED_FILES; n++) writeSource(folderOf(root, "dist", n), n, random);
  return { root, smallFiles, bigFile: "big.ts", flatFolder: "flat" };
}

function folderOf(root: string, area: "src" | "dist", n: number): string {
  const folder = Math.floor(n / FILES_PER_FOLDER);
  const path = join(
    root,
    "packages",
    `package-${Math.floor(folder / FOLDERS_PER_PACKAGE)}`,
    area,
    `part-${folder}`,
  );
  if (n % FILES_PER_FOLDER === 0) mkdirSync(path, { recursive: true });
  return path;
}

function writeSource(folder: string, n: number, random: () => number): void {
  const extension =
    n % TEST_FILE_EVERY === 0 ? "test.ts" : pick(random, ["ts", "ts", "tsx", "js", "json", "md"]);
  const functions = Array.from({ length: 4 + Math.floor(random() * 24) }, () => sourceFunction(random));
  if (n % RARE_FILE_EVERY === RARE_FILE_EVERY - 1) functions.push(`// ${RARE_PATTERN}\n`);
  writeFileSync(join(folder, `module-${n}.${extension}`), functions.join("\n"));
}

function exactly(bytes: number, random: () => number): string {
  let text = "";
  while (text.length < bytes) text += sourceFunction(random);
  return `${text.slice(0, bytes - 1)}\n`;
}

const WORDS = [
  "order",
  "user",
  "path",
  "index",
  "token",
  "result",
  "queue",
  "buffer",
  "total",
  "entry",
] as const;

function sourceFunction(random: () => number): string {
  const word = () => pick(random, WORDS);
  const [verb, subject, local] = [word(), word(), word()];
  return `export function ${verb}${Math.floor(random() * 1e6)}(${subject}: number): number {
  const ${local} = ${subject} * ${Math.floor(random() * 1000)};
  if (${local} > ${Math.floor(random() * 1000)}) return ${local};
  return ${local} + ${Math.floor(random() * 1000)}; // the ${word()} of the ${word()}
}
`;
}
