import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { sharedCompileCache } from "./compile-cache.ts";

/** The small project for which every example of every action is written. */
const FILES: Readonly<Record<string, string>> = {
  "README.md": "# Demo\n\nA small project.\n",
  "package.json": '{\n  "name": "demo",\n  "type": "module",\n  "scripts": { "test": "node --test" }\n}\n',
  "src/main.ts": "export const answer = 42;\n",
  "src/util/add.ts": "export const add = (a: number, b: number) => a + b;\n",
};

/** The files of a `.git` folder, by their path in it. */
type Repository = ReadonlyMap<string, Buffer>;

let history: Repository | undefined;

/** Two commits, and two files changed since. The first project of a test file uses git, the others get a copy. */
function addHistory(root: string): void {
  const folder = join(root, ".git");
  if (!history) {
    makeHistory(root);
    history = readRepository(folder);
    return;
  }
  for (const [path, content] of history) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

const readRepository = (folder: string): Repository =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [relative(folder, path), readFileSync(path)]),
  );

function makeHistory(root: string): void {
  const changed = ["package.json", "src/main.ts"];
  for (const path of changed) writeFileSync(join(root, path), "{}\n");
  git(root, "init", "--quiet", "--initial-branch=main", "--template=");
  git(root, "config", "user.name", "Demo");
  git(root, "config", "user.email", "demo@example.org");
  git(root, "add", ...changed);
  git(root, "commit", "--quiet", "--message=Begin");
  git(root, "add", ".");
  git(root, "commit", "--quiet", "--message=Go on");
  for (const path of changed) writeFileSync(join(root, path), FILES[path] ?? "");
}

const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd });

export interface FixtureProject extends Disposable {
  readonly root: string;
  /** The environment of a person with an empty home. */
  readonly env: NodeJS.ProcessEnv;
}

export function createFixtureProject(): FixtureProject {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-fixture-")));
  const root = join(base, "demo");
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const env = {
    ...sharedCompileCache(),
    PATH: process.env["PATH"],
    HOME: join(base, "home"),
    XDG_STATE_HOME: join(base, "state"),
  };
  mkdirSync(env.HOME);
  addHistory(root);
  // A program that a test just stopped may write its last file while the folder is removed.
  const remove = () => rmSync(base, { recursive: true, force: true, maxRetries: 10 });
  return { root, env, [Symbol.dispose]: remove };
}
