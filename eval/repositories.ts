// The repositories that search is measured on. Check them out to run the evaluation; they are never committed.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const EVAL_LANGUAGES = ["python", "typescript", "go", "java", "rust"] as const;
export type EvalLanguage = (typeof EVAL_LANGUAGES)[number];

/** Weights are tuned on `dev` only; `test` shows how well that generalises. */
export type Split = "dev" | "test";

export interface Repository {
  readonly name: string;
  readonly language: EvalLanguage;
  readonly split: Split;
  /** The code of the project itself: its tests, docs and examples are left out of the plain variant. */
  readonly code: RegExp;
  readonly notCode?: RegExp;
}

const REPOSITORIES: readonly Repository[] = [
  { name: "requests", language: "python", split: "dev", code: /^src\/.*\.py$/ },
  { name: "pytest", language: "python", split: "dev", code: /^src\/.*\.py$/ },
  { name: "flask", language: "python", split: "test", code: /^src\/.*\.py$/ },
  {
    name: "scikit-learn",
    language: "python",
    split: "test",
    code: /^sklearn\/.*\.py$/,
    notCode: /\/tests?\//,
  },
  {
    name: "gemini-cli",
    language: "typescript",
    split: "dev",
    code: /^packages\/.*\.tsx?$/,
    notCode: /\.(?:spec|test)\.tsx?$|\/test\//,
  },
  {
    name: "react-router",
    language: "typescript",
    split: "test",
    code: /^packages\/.*\.tsx?$/,
    notCode: /\.test\.tsx?$|__tests__/,
  },
  {
    name: "vite",
    language: "typescript",
    split: "test",
    code: /^packages\/.*\.ts$/,
    notCode: /__tests__|\.spec\.ts$/,
  },
  { name: "caddy", language: "go", split: "dev", code: /\.go$/, notCode: /_test\.go$/ },
  { name: "gin", language: "go", split: "test", code: /\.go$/, notCode: /_test\.go$/ },
  { name: "loki", language: "go", split: "test", code: /^pkg\/.*\.go$/, notCode: /_test\.go$|\.pb\.go$/ },
  { name: "commons-lang", language: "java", split: "dev", code: /^src\/main\/.*\.java$/ },
  { name: "mockito", language: "java", split: "test", code: /\/src\/main\/.*\.java$/ },
  { name: "ripgrep", language: "rust", split: "dev", code: /\.rs$/, notCode: /\/tests?\// },
  { name: "goose", language: "rust", split: "dev", code: /\.rs$/, notCode: /\/tests?\// },
  { name: "serde", language: "rust", split: "test", code: /\.rs$/, notCode: /\/tests?\/|test_suite/ },
];

/** Available without any checkout. */
export const OWN_REPOSITORY: Repository = {
  name: "octant",
  language: "typescript",
  split: "dev",
  code: /^packages\/.*\.ts$/,
  notCode: /\.test\.ts$|\/dist\//,
};

/** The listed repositories found below the folder, by their names. */
export const repositoriesIn = (folder: string): Repository[] =>
  REPOSITORIES.filter(({ name }) => existsSync(join(folder, name)));

/** The commit of a checkout; one made without git has it in a file `.commit`. */
export function commitOf(checkout: string): string {
  const noted = join(checkout, ".commit");
  if (existsSync(noted)) return readFileSync(noted, "utf8").trim().slice(0, 10);
  try {
    return execFileSync("git", ["-C", checkout, "rev-parse", "--short=10", "HEAD"], {
      encoding: "utf8",
    }).trim();
  } catch {
    return "unknown";
  }
}
