import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOctant, type Octant } from "../../packages/app/src/octant.ts";
import { createFixtureProject, type FixtureProject } from "../fixture-project.ts";

/** Files that git, ripgrep or our own code reads before anything else, wherever a project can put them. */
const PLACES = [
  ...[
    "HEAD",
    "config",
    "config.worktree",
    "index",
    "packed-refs",
    "commondir",
    "shallow",
    "info/exclude",
  ].map((name) => `.git/${name}`),
  ...[
    "info/attributes",
    "objects/info/alternates",
    "refs/heads/main",
    "refs/heads/other",
    "MERGE_HEAD",
    "logs/HEAD",
  ].map((name) => `.git/${name}`),
  ...[
    ".gitignore",
    ".gitattributes",
    ".gitmodules",
    ".ignore",
    ".rgignore",
    "src/.gitignore",
    "src/.gitattributes",
  ],
];

/** Those that only our own code reads, all at once. */
const MANIFESTS = [
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "Cargo.toml",
  "pyproject.toml",
  "go.mod",
  "Makefile",
  "AGENTS.md",
  "CLAUDE.md",
  ".mcp.json",
  ".hanzo/commands/x.md",
  "node_modules/typescript/package.json",
  "src/new.ts",
];

const CALLS = [
  ["vcs", "status", {}],
  ["vcs", "diff", {}],
  ["vcs", "log", {}],
  ["vcs", "branch", { op: "list" }],
  ["ws", "detect", {}],
  ["fs", "list", { uri: "." }],
  ["fs", "search_text", { pattern: "answer" }],
] as const;

let project: FixtureProject;
beforeAll(() => {
  project = createFixtureProject();
});
afterAll(() => project[Symbol.dispose]());

async function callAll(octant: Octant): Promise<void> {
  for (const [tool, action, input] of CALLS) {
    const { envelope } = await octant.dispatch(
      { tool, action, input },
      { caller: { id: "me", access: "admin" } },
    );
    const code = envelope.ok ? "OK" : envelope.error.code;
    expect(
      ["OK", "VCS_ERROR", "NOT_A_REPOSITORY", "TIMEOUT", "NOT_A_FILE", "LIMIT_EXCEEDED"],
      `${tool}.${action}`,
    ).toContain(code);
  }
}

/** Puts something in the place of a file for the time of the work. */
async function withInstead(
  places: readonly string[],
  make: (path: string) => void,
  work: () => Promise<void>,
): Promise<void> {
  const saved = join(project.root, "..", "saved");
  execFileSync("cp", ["-a", project.root, saved]);
  for (const path of places.map((place) => join(project.root, place))) {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(dirname(path), { recursive: true });
    make(path);
  }
  try {
    await work();
  } finally {
    rmSync(project.root, { recursive: true });
    execFileSync("mv", [saved, project.root]);
  }
}

/** None of these would ever be answered by a plain read; the test's own time limit is the measure. */
test.each([...PLACES.map((place) => [place]), MANIFESTS])(
  "a pipe as %s holds no call",
  { timeout: 60_000 },
  async (...places) => {
    await withInstead(
      places,
      (path) => execFileSync("mkfifo", [path]),
      async () => {
        const octant = createOctant({ roots: [project.root], env: project.env, log: () => {} });
        try {
          await callAll(octant);
        } finally {
          await octant.close();
        }
      },
    );
  },
);

test.each([".git/HEAD", ".git/config", ".git/packed-refs", ".gitignore", "package.json"])(
  "an endless device behind %s holds no call",
  { timeout: 60_000 },
  async (place) => {
    await withInstead(
      [place],
      (path) => symlinkSync("/dev/zero", path),
      async () => {
        const octant = createOctant({ roots: [project.root], env: project.env, log: () => {} });
        try {
          await callAll(octant);
        } finally {
          await octant.close();
        }
      },
    );
  },
);

test.each([".hanzo/settings.json", ".hanzo/settings.local.json"])(
  "a pipe as %s is refused at the start",
  async (place) => {
    await withInstead(
      [place],
      (path) => execFileSync("mkfifo", [path]),
      async () => {
        const open = () => createOctant({ roots: [project.root], env: project.env, log: () => {} });
        expect(open).toThrow("expected a regular file");
      },
    );
  },
);
