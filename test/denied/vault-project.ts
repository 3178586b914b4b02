import { execFileSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";

/** Files that a rule denies. Tests look for the first half of a canary, and must never find the whole. */
export const SECRET = { path: "src/vault.ts", canary: "CANARYA-4711" };
export const HIDDEN = { path: "notes/nm-kanarie.md", canary: "CANARYB-0815", name: "nm-kanarie" };

const FILES: Readonly<Record<string, string>> = {
  "README.md": "# Demo\n",
  "package.json": '{"name":"demo","type":"module","scripts":{"test":"node --test"}}\n',
  "tsconfig.json":
    '{"compilerOptions":{"module":"nodenext","allowImportingTsExtensions":true,"noEmit":true}}\n',
  "src/main.ts":
    'import { shared, vaulted } from "./vault.ts";\n\nexport const answer = shared.length + vaulted(1);\n',
  "src/util/add.ts": "export const add = (a: number, b: number) => a + b;\n",
  "test/add.test.js": 'import { test } from "node:test";\ntest("adds", () => {});\n',
  "page.html": "<title>page</title><body>page</body>\n",
  [SECRET.path]: vault("old"),
  [HIDDEN.path]: `old ${HIDDEN.canary}\n`,
};

function vault(when: string): string {
  return [
    `/** ${when} ${SECRET.canary} */`,
    `export const shared = "${SECRET.canary}" as const;`,
    `/** ${SECRET.canary} */`,
    `export function vaulted(one: number, ${when} = "${SECRET.canary}") {`,
    "  return one;",
    "}",
    "",
  ].join("\n");
}

export interface VaultProject extends Disposable {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  /** The state of the denied files, which nothing may change. */
  denied(): readonly string[];
  /** Other files of the project that contain a canary by now. */
  copies(): readonly string[];
}

/** A repository with two denied files, committed, changed since, and different on the branch `other`. */
export function createVaultProject(): VaultProject {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-vault-")));
  const root = join(base, "demo");
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=D", "-c", "user.email=d@e.org", ...args], { cwd: root });
  for (const [path, text] of Object.entries(FILES)) write(path, text);
  git("init", "--quiet", "--initial-branch=main", "--template=");
  git("config", "user.name", "Demo");
  git("config", "user.email", "demo@example.org");
  git("add", ".");
  git("commit", "--quiet", "--message=Begin");
  git("checkout", "--quiet", "-b", "other");
  write(SECRET.path, vault("theirs"));
  write(HIDDEN.path, `theirs ${HIDDEN.canary}\n`);
  git("commit", "--quiet", "--all", "--message=Other");
  git("checkout", "--quiet", "main");
  write(SECRET.path, vault("new"));
  write(HIDDEN.path, `new ${HIDDEN.canary}\n`);
  write("README.md", "# Demo changed\n");
  symlinkSync("vault.ts", join(root, "src/link.ts"));
  linkSync(join(root, HIDDEN.path), join(root, "twin.md"));
  const env = { PATH: process.env["PATH"], HOME: join(base, "home"), XDG_STATE_HOME: join(base, "state") };
  mkdirSync(env.HOME);
  const isDenied = (path: string) => [SECRET.path, HIDDEN.path, "twin.md", "src/link.ts"].includes(path);
  return {
    root,
    env,
    denied: () => [SECRET.path, HIDDEN.path].map((path) => readFileSync(join(root, path), "utf8")),
    copies: () =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
        .filter((path) => !relative(root, path).startsWith(".git/") && !isDenied(relative(root, path)))
        .filter((path) => holdsCanary(readFileSync(path, "utf8"))),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

export const holdsCanary = (text: string): boolean =>
  [SECRET, HIDDEN].some(({ canary }) => text.includes(canary));
