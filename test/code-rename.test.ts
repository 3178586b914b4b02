import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CodeProject, openCodeProject, positionOf } from "./code-project.ts";

const USERS = 30;
const TSC = join(import.meta.dirname, "../node_modules/typescript/bin/tsc");
const FILES = ["src/lib.ts", ...Array.from({ length: USERS }, (_, n) => `src/user-${n}.ts`)];
const CONFIG = {
  compilerOptions: {
    module: "nodenext",
    target: "esnext",
    strict: true,
    noEmit: true,
    types: [],
    allowImportingTsExtensions: true,
  },
  include: ["src"],
};

let template: string;
beforeAll(() => {
  template = mkdtempSync(join(tmpdir(), "octant-rename-"));
  mkdirSync(join(template, "src"));
  writeFileSync(join(template, "package.json"), '{ "type": "module" }');
  writeFileSync(join(template, "tsconfig.json"), JSON.stringify(CONFIG));
  writeFileSync(
    join(template, "src/lib.ts"),
    "export function fetchUser(id: number) {\n  return { id };\n}\n",
  );
  for (let n = 0; n < USERS; n++)
    writeFileSync(
      join(template, `src/user-${n}.ts`),
      `import { fetchUser } from "./lib.ts";\n\nexport const user${n} = fetchUser(${n});\nexport const again${n} = { fetchUser };\n`,
    );
});
afterAll(() => rmSync(template, { recursive: true }));

const contents = (root: string) => FILES.map((file) => readFileSync(join(root, file), "utf8"));
const renamed = (texts: readonly string[]) => texts.filter((text) => text.includes("loadUser")).length;
const checkTypes = (root: string) => execFileSync(process.execPath, [TSC, "-p", root], { stdio: "pipe" });

/** From an import, the error-prone case. */
const renameIn = ({ roots: [root], call }: CodeProject, more = {}) => {
  const uri = join(root!, "src/user-7.ts");
  return call("code", "rename", {
    uri,
    position: positionOf(uri, "fetchUser"),
    new_name: "loadUser",
    ...more,
  });
};

test("a symbol used in 30 files is renamed in all of them, the types still check, and it can be undone", async () => {
  await using project = openCodeProject([template]);
  const [root] = project.roots;
  const before = contents(root!);
  const { data, meta } = await renameIn(project);
  expect(meta.backend).toBe("typescript");
  expect(data.files).toHaveLength(USERS + 1);
  expect(renamed(contents(root!))).toBe(USERS + 1);
  expect(contents(root!).join("")).not.toMatch(/\bas loadUser\b|\bimport \{ fetchUser/);
  checkTypes(root!);
  const { error } = await project.call("fs", "apply_patch", { patch: data.undo });
  expect(error).toBeNull();
  expect(contents(root!)).toEqual(before);
});

test("when one of the files is not writable, none is changed", async () => {
  await using project = openCodeProject([template]);
  const [root] = project.roots;
  const before = contents(root!);
  chmodSync(join(root!, "src/user-23.ts"), 0o444);
  expect((await renameIn(project)).error?.code).toBe("ACCESS_DENIED");
  expect(contents(root!)).toEqual(before);
});

test("a dry run changes nothing and its patch does the same as the rename", async () => {
  await using project = openCodeProject([template]);
  const [root] = project.roots;
  const before = contents(root!);
  const { data } = await renameIn(project, { dry_run: true });
  expect(data.undo).toBeNull();
  expect(contents(root!)).toEqual(before);
  const stats = await Promise.all(FILES.map((uri) => project.call("fs", "stat", { uri })));
  const bases = stats.map((one) => ({ uri: one.data.uri, base_hash: one.data.hash }));
  const { error } = await project.call("fs", "apply_patch", { patch: data.patch, files: bases });
  expect(error).toBeNull();
  expect(renamed(contents(root!))).toBe(USERS + 1);
});

test("a text that is not an identifier in any language is refused before a server is asked", async () => {
  await using project = openCodeProject([template]);
  for (const new_name of ["load user", "", "a\nb"])
    expect((await renameIn(project, { new_name })).error?.code).toBe("INVALID_ARGUMENT");
  expect(project.servers.running(join(project.roots[0]!, "src/lib.ts"))).toBeUndefined();
});

test("a server killed during a rename leaves all files renamed or none", async () => {
  await using project = openCodeProject([template]);
  const [root] = project.roots;
  const script = join(import.meta.dirname, "code-renaming-process.ts");
  const state = mkdtempSync(join(tmpdir(), "octant-rename-state-"));
  const env = { ...process.env, XDG_STATE_HOME: state };
  const child = spawn(process.execPath, [script, root!], { env, stdio: "ignore" });
  using watching = watchFirst(join(root!, "src"), () => child.kill("SIGKILL"));
  await once(child, "exit");
  watching[Symbol.dispose]();
  // The next one to start rolls back what was left.
  const next = spawn(process.execPath, [script, root!, "look"], { env, stdio: "ignore" });
  await once(next, "exit");
  expect([0, USERS + 1]).toContain(renamed(contents(root!)));
  checkTypes(root!);
  rmSync(state, { recursive: true });
});

function watchFirst(folder: string, then: () => void): Disposable {
  const watcher = watch(folder, then);
  return { [Symbol.dispose]: () => watcher.close() };
}

test("a server that is too slow for a question is still waited for when it renames", async () => {
  const limits = { startMs: 60_000, firstAnswerMs: 60_000, answerMs: 1 };
  await using project = openCodeProject([template], { limits });
  const uri = join(project.roots[0]!, "src/lib.ts");
  // The first answer has a budget of its own.
  await project.call("code", "hover", { uri, position: positionOf(uri, "fetchUser") });
  const { data, error } = await renameIn(project, { dry_run: true });
  expect(error).toBeNull();
  expect(data.files).toHaveLength(FILES.length);
});
