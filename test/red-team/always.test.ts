import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPolicy, type PermissionRule } from "@octant/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exec as defineExec } from "../../packages/tools/src/proc/exec.ts";
import { input as defineInput } from "../../packages/tools/src/proc/input.ts";

// Only the declarations are used; nothing runs.
const exec = defineExec({} as never);
const input = defineInput({} as never);

let root: string;
let places: Parameters<typeof createPolicy>[1];
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "octant-always-")));
  const bin = join(root, "bin");
  for (const folder of ["bin", "ws/src", "ws/.git", "home"])
    mkdirSync(join(root, folder), { recursive: true });
  // Files whose names are the words of commands: a bare word is not a path because it could be one.
  for (const name of ["a.txt", "b.txt", "src/c.txt", "main", "evil", "build", "x", "pwd"])
    writeFileSync(join(root, "ws", name), "");
  writeFileSync(
    join(root, "home/.gitconfig"),
    '[alias]\n\tco = checkout\n\twipe = "!rm -rf"\n\tup = push origin\n',
  );
  const programs = new Set([...TABLE.map(([made]) => made.split(" ")[0] ?? ""), "sudo", "ssh"]);
  for (const name of programs) {
    writeFileSync(join(bin, name), "");
    chmodSync(join(bin, name), 0o755);
  }
  places = { roots: [join(root, "ws")], homes: [join(root, "home")], searchPath: bin };
});
afterAll(() => rmSync(root, { recursive: true }));

type Call = {
  readonly command: string | readonly string[];
  readonly cwd?: string;
  readonly stdin?: string;
  readonly env?: object;
};
const toCall = (given: string | Call) => ({
  name: "proc.exec",
  action: exec,
  input: typeof given === "string" ? { command: given, env: {} } : { env: {}, ...given },
});

/** What a later call gets after the person answered "always" to the first. */
function modeAfter(made: string | Call, later: string | Call): string {
  const rule = createPolicy([], places).narrowRule(toCall(made));
  if (!rule) return "no rule";
  return createPolicy([{ tier: "local", rules: [rule] }], places).evaluate(toCall(later)).mode;
}

/** A command that was always allowed, and others that this must not cover. */
const TABLE: readonly (readonly [made: string, ...others: string[]])[] = [
  [
    "git submodule foreach pwd",
    "git submodule foreach evil",
    "git submodule foreach 'rm -rf .'",
    "git submodule foreach x",
  ],
  ["git rebase main", "git rebase -x evil main", "git rebase -x ./evil main", "git rebase evil"],
  ["git rebase -x build main", "git rebase -x evil main"],
  [
    "git push origin main",
    "git push origin evil",
    "git push evil main",
    "git push origin main --force",
    "git push",
  ],
  ["git pull origin main", "git pull evil main"],
  ["git fetch origin", "git fetch evil"],
  ["git clone x", "git clone evil"],
  ["git remote add x build", "git remote add x evil"],
  ["git config user.name x", "git config core.fsmonitor evil", "git config user.name evil"],
  ["git bisect run build", "git bisect run evil"],
  ["git difftool -x build", "git difftool -x evil"],
  ["git commit -m x", "git commit -m evil", "git commit --template evil -m x"],
  ["git checkout main", "git checkout evil", "git checkout ."],
  ["git stash", "git stash drop", "git stash pop"],
  [
    "git diff a.txt",
    "git diff --output=x a.txt",
    "git diff --ext-diff a.txt",
    "git diff missing",
    "git diff /etc/passwd",
    "git -c alias.x=!evil diff a.txt",
  ],
  ["npm exec -- x", "npm exec -- evil", "npm exec evil"],
  ["npm run build", "npm run evil", "npm run build evil", "npm run build -- evil"],
  ["npm install", "npm install evil", "npm install x"],
  ["npm install x", "npm install evil", "npm install x evil"],
  ["npm publish", "npm publish evil"],
  ["npm test", "npm test evil"],
  ["npx x", "npx evil"],
  ["pnpm dlx x", "pnpm dlx evil"],
  ["pnpm add x", "pnpm add evil"],
  ["yarn build", "yarn evil", "yarn build evil"],
  ["yarn add x", "yarn add evil"],
  ["bunx x", "bunx evil"],
  ["pip install x", "pip install evil", "pip install x evil", "pip install -r evil"],
  ["uv pip install x", "uv pip install evil"],
  ["uv run build", "uv run evil"],
  ["uvx x", "uvx evil"],
  ["poetry run build", "poetry run evil"],
  ["pytest a.txt", "pytest evil"],
  ["cargo run x", "cargo run evil"],
  ["cargo install x", "cargo install evil"],
  ["cargo test x", "cargo test evil"],
  ["go run x", "go run evil"],
  ["go install x", "go install evil"],
  ["go test x", "go test -exec evil x", "go test evil"],
  ["docker run x", "docker run evil", "docker run x evil"],
  ["docker exec x build", "docker exec x evil"],
  ["docker compose up", "docker compose up evil"],
  ["kubectl exec x build", "kubectl exec x evil"],
  ["make build", "make evil", "make build SHELL=./evil", "make -f evil build"],
  ["just build", "just evil"],
  ["gh pr create", "gh pr create evil", "gh repo delete x"],
  ["terraform apply x", "terraform apply evil"],
  ["brew install x", "brew install evil"],
  ["apt-get install x", "apt-get install evil"],
  ["cat a.txt", "cat b.txt", "cat /etc/passwd"],
  ["python3 a.txt", "python3 evil", "python3 -c 1"],
  ["node a.txt", "node evil", "node -e 1", "node -r ./evil a.txt"],
  ["tar xf a.txt", "tar xf evil", "tar xf a.txt --to-command=evil"],
];

describe("an answer of always to", () => {
  test.each(TABLE)("%s covers that command alone", (made, ...others) => {
    expect(modeAfter(made, made)).toBe("allow");
    for (const other of others) expect(modeAfter(made, other), other).toBe("prompt");
  });

  test.each(["git diff a.txt", "git add a.txt", "git log a.txt"])(
    "%s covers other files of the project",
    (made) => {
      for (const file of ["b.txt", "src/c.txt", "."])
        expect(modeAfter(made, made.replace("a.txt", file))).toBe("allow");
    },
  );

  test.each([
    ...[
      "find . -exec cat x ;",
      "xargs cat",
      "env x",
      "sudo x",
      "ssh x",
      "sh -c x",
      "python3 -c 1",
      "node -e 1",
    ],
    ...["bash a.txt", "eval x", "time x", "watch x", "cat a.txt > b.txt", "cat < a.txt", "FOO=1 git status"],
  ])("%s is not offered", (made) => {
    expect(modeAfter(made, made)).toBe("no rule");
  });

  test("a command without text for it, in one folder, covers neither text nor another folder", () => {
    const made = { command: "git status" };
    expect(modeAfter(made, made)).toBe("allow");
    expect(modeAfter(made, { ...made, stdin: "x" })).toBe("prompt");
    expect(modeAfter(made, { ...made, cwd: "src" })).toBe("prompt");
    expect(modeAfter(made, { ...made, env: { GIT_DIR: "x" } })).toBe("prompt");
    expect(modeAfter(made, "cd src && git status")).toBe("prompt");
    expect(modeAfter({ ...made, cwd: "src" }, { ...made, cwd: "src" })).toBe("allow");
    expect(modeAfter({ ...made, cwd: "src" }, made)).toBe("prompt");
    expect(modeAfter({ ...made, stdin: "x" }, { ...made, stdin: "x" })).toBe("no rule");
  });

  test("text for a running process is not offered", () => {
    const call = { name: "proc.input", action: input, input: { proc_id: "proc_1", text: "ls\n", keys: [] } };
    expect(createPolicy([], places).narrowRule(call)).toBeUndefined();
  });
});

const deny = (...command: string[]): PermissionRule => ({
  tool_pattern: "proc",
  mode: "deny",
  args: { command },
});

describe("a deny rule on rm -rf", () => {
  const modeOf = (name: string, action: typeof exec | typeof input, given: object) =>
    createPolicy([{ tier: "user", rules: [deny("rm", "-rf")] }], places).evaluate({
      name,
      action,
      input: { ...given },
    }).mode;

  test.each<[string, object]>([
    ["text for a shell", { command: ["bash"], stdin: "cd /\nrm -rf x\n" }],
    ["text with a broken line", { command: ["bash"], stdin: "rm \\\n-rf x\n" }],
    ["code for an interpreter", { command: ["python3"], stdin: 'import os; os.system("rm -rf x")' }],
    ["BASH_ENV", { command: ["bash", "a.txt"], env: { BASH_ENV: "a.txt" } }],
    ["BASH_ENV in the line", { command: "BASH_ENV=a.txt bash b.txt" }],
    ["GIT_CONFIG_COUNT", { command: ["git", "status"], env: { GIT_CONFIG_COUNT: "1" } }],
    ["an alias in the command", { command: ["git", "-c", "alias.x=!rm -rf .", "x"] }],
    ["an alias in the line", { command: "git -c alias.x='!rm -rf .' x" }],
    ["an alias that is being set", { command: "git config alias.x '!rm -rf .'" }],
    ["an alias of the person", { command: "git wipe ." }],
    ["an alias of the person after sudo", { command: "sudo git -C x wipe ." }],
    ["an alias that nobody knows", { command: "cd nested && git unknown" }],
    ["an option with a script", { command: ["git", "rebase", "--exec=rm -rf x", "main"] }],
  ])("sees %s", (_, given) => {
    expect(modeOf("proc.exec", exec, { env: {}, ...given })).toBe("deny");
  });

  test.each<[string, object]>([
    ["text", { text: "rm -rf x\n", keys: [] }],
    ["keys", { keys: [..."rm -rf x", "enter"] }],
    ["keys by name", { keys: ["r", "m", "space", "-", "r", "f", "enter"] }],
  ])("sees %s for a running process", (_, given) => {
    expect(modeOf("proc.input", input, { proc_id: "proc_1", ...given })).toBe("deny");
  });

  test.each<[string, object]>([
    [
      "a patch on the input",
      { command: ["git", "apply"], stdin: "-const $x = rm(a);\n+const y = `$(b)`;\n" },
    ],
    ["an alias of the person for something else", { command: "git co main" }],
    ["prose about git", { command: "git commit -m 'git flow is explained'" }],
    ["a word git among others", { command: "grep -r git src" }],
    ["ordinary variables", { command: ["npm", "test"], env: { CI: "1" } }],
  ])("does not stop %s", (_, given) => {
    expect(modeOf("proc.exec", exec, { env: {}, ...given })).not.toBe("deny");
  });
});

test("a deny rule on git push sees the person's alias for it", () => {
  const policy = createPolicy([{ tier: "user", rules: [deny("git", "push")] }], places);
  expect(policy.evaluate(toCall("git up")).mode).toBe("deny");
  expect(policy.evaluate(toCall("git co main")).mode).not.toBe("deny");
});
