import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const REPOSITORY = join(import.meta.dirname, "..");

/** Ways to start a process: Node's module however imported, a terminal library, and Node's own internals. */
const WAYS = /child_process|node-pty|process\.binding|process\.dlopen|node:cluster/;

/** Files that start processes, and why each may. Everything else goes through start-program.ts. */
const SITES: Readonly<Record<string, string>> = {
  "packages/host/src/programs/start-program.ts": "the one place",
  "packages/host/src/processes/pty-child.ts": "a terminal, for a command that Sandbox.wrap launched",
  "packages/host/src/sandbox/forwarder-entry.ts": "runs inside the sandbox, without our other files",
  "packages/cli/bin/restart.js": "Node of our own install, found beside this file",
};

/**
 * Files that start a program launched by `Sandbox.wrap` or found outside projects, such as the clipboard's. `octant
 * setup` starts the entry it has just written for a client; `octant vectors`, `--host exec:` and commands such as
 * /commit start what the person typed.
 */
const LAUNCHERS = [
  "packages/app/src/agent/external-editor.ts",
  "packages/app/src/agent/notifier.ts",
  "packages/app/src/agent/pictures.ts",
  "packages/app/src/agent/tmux-clipboard.ts",
  "packages/app/src/host/connect-to-command.ts",
  "packages/app/src/packs/install-pack.ts",
  "packages/app/src/slash/person-program.ts",
  "packages/host/src/browser/browser-process.ts",
  "packages/app/src/setup/ask-server.ts",
  "packages/conformance/src/ask-command.ts",
  "packages/host/src/git/run-git.ts",
  "packages/host/src/language-servers/find-server.ts",
  "packages/host/src/language-servers/server-process.ts",
  "packages/host/src/processes/child.ts",
  "packages/host/src/processes/prepared-sandboxes.ts",
  "packages/host/src/sandbox/probe.ts",
];

const TYPES_ONLY = /^import type \{[^}]*\} from "node:child_process";$/gm;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;

const sources = readdirSync(join(REPOSITORY, "packages"), { recursive: true, encoding: "utf8" })
  .map((path) => `packages/${path}`)
  .filter((path) => /^packages\/.+\/(src|bin)\/.+\.(ts|tsx|js|mjs)$/.test(path))
  .filter((path) => !/node_modules|\/dist\/|\.test\.ts$|\/testing\//.test(path))
  .map((path) => ({ path, text: readFileSync(join(REPOSITORY, path), "utf8").replace(COMMENT, "") }));

const filesWith = (pattern: RegExp) =>
  sources
    .filter(({ text }) => pattern.test(text.replace(TYPES_ONLY, "")))
    .map(({ path }) => path)
    .sort();

test("only the listed files can start a process", () => {
  expect(sources.length).toBeGreaterThan(300);
  expect(filesWith(WAYS)).toEqual(Object.keys(SITES).sort());
});

test("only the listed files start a program that is not typed as trusted", () => {
  const inStart = "packages/host/src/programs/start-program.ts";
  const users = filesWith(/startLaunched\(/).filter((path) => path !== inStart);
  expect(users).toEqual([...LAUNCHERS].sort());
});

test("only trusted-program.ts creates a trusted program", () => {
  expect(filesWith(/\bas TrustedProgram\b/)).toEqual(["packages/host/src/programs/trusted-program.ts"]);
});
