import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { openProject, type ProjectSource } from "../packages/tools/testing/test/open-project.ts";

const MODULES = join(import.meta.dirname, "../node_modules");

function open(source: ProjectSource, env?: NodeJS.ProcessEnv) {
  const project = openProject(source, env && { env });
  onTestFinished(() => project.close());
  return project;
}

/** Links installed packages into a project, as an install would. */
function install(root: string, ...names: readonly string[]): void {
  mkdirSync(join(root, "node_modules/.bin"), { recursive: true });
  for (const name of names) {
    symlinkSync(join(MODULES, name), join(root, "node_modules", name));
    symlinkSync(join(MODULES, ".bin", name), join(root, "node_modules/.bin", name));
  }
}

const mochaProject = (script: string) => ({
  "package.json": JSON.stringify({ name: "p", scripts: { test: script }, devDependencies: { mocha: "*" } }),
  "test/env.js": "process.env.SEEN = 'yes';\n",
  "test/a.js": "it('a is first', () => { if (process.env.SEEN !== 'yes') throw new Error('no env'); });\n",
  "test/b.js": "it('b is second', () => {});\n",
  "test/more/c.js": "it('c is third', () => {});\n",
});

test("a file of a script that names its own files runs alone, with the script's options", async () => {
  const { root, run } = open(mochaProject("mocha --require ./test/env.js --check-leaks test/ test/more/"));
  install(root, "mocha");
  expect((await run({})).data).toMatchObject({ status: "passed", pass: 3 });
  const { data } = await run({ filter: "test/a.js" });
  expect(data).toMatchObject({ status: "passed", pass: 1, fail: 0 });
  expect(data).not.toHaveProperty("reason");
});

test("a script that cannot be narrowed says how many tests of other files it ran", async () => {
  const { root, run } = open(mochaProject("true && mocha --require ./test/env.js test/ test/more/"));
  install(root, "mocha");
  const { data } = await run({ filter: "test/a.js" });
  expect(data).toMatchObject({ status: "passed", pass: 3 });
  expect(data.reason).toContain("also ran 2 tests of other files");
});

test("the reporter of mocha is not taken for a runner", async () => {
  const { root, call } = open(mochaProject("mocha --reporter tap test/"));
  install(root, "mocha");
  expect((await call("test.list", {})).data).toMatchObject({ suites: [{ suite: "p:mocha" }] });
});

test("lines that begin with ok are not TAP", async () => {
  const printing = (text: string, code = 0) => ({
    Makefile: `test:\n\t@printf '${text}'; exit ${code}\n`,
  });
  const { data } = await open(
    printing("ok  \\texample/pkg\\t0.012s\\n?   \\texample/other\\t[no test files]\\n"),
  ).run({});
  expect(data).toMatchObject({ status: "passed", pass: 0 });
  expect(data.reason).toContain("only its exit code is known");
  const failed = await open(printing("ok  \\ta\\t0.1s\\nFAIL\\tb\\t0.1s\\n", 1)).run({});
  expect(failed.data).toMatchObject({ status: "failed", fail: 0 });
  const tap = await open(printing("ok 1 - one\\nnot ok 2 - two\\n1..2\\n", 1)).run({});
  expect(tap.data).toMatchObject({ status: "failed", pass: 1, fail: 1 });
});

test("two targets of one Makefile are two suites, and so are two packages of one name", async () => {
  const manifest = JSON.stringify({ name: "same", scripts: { test: "node --test" } });
  const { call } = open({
    Makefile: "test:\n\ttrue\ntests:\n\ttrue\n",
    "a/package.json": manifest,
    "b/package.json": manifest,
  });
  const { suites } = (await call("test.list", {})).data as { suites: readonly { suite: string }[] };
  const ids = suites.map(({ suite }) => suite);
  expect(ids).toHaveLength(4);
  expect(new Set(ids).size).toBe(4);
});

/** A folder with the machine's own Node, which may be older than ours. */
const systemPath = () =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"))
    .join(delimiter);

test.each([
  ["node --test", "adds"],
  ["node --test *.test.js", "adds"],
  ["FLAG=1 node --test 'a.test.js' b.test.js", "adds"],
])("%s is narrowed by name and by file on the machine's own Node", async (script, name) => {
  const { run } = open(
    {
      "package.json": JSON.stringify({ name: "p", scripts: { test: script } }),
      "a.test.js": "const t = require('node:test'); t('adds', () => {}); t('subtracts', () => {});\n",
      "b.test.js": "const t = require('node:test'); t('multiplies', () => {});\n",
    },
    { ...process.env, PATH: systemPath() },
  );
  const named = await run({ filter: name });
  expect(named.error).toBeNull();
  expect(named.data).toMatchObject({ status: "passed", fail: 0 });
  expect(named.data.pass).toBeLessThan(3);
  const byFile = await run({ filter: "b.test.js" });
  expect(byFile.data).toMatchObject({ status: "passed", pass: 1 });
});

test.skipIf(inject("missing").includes("python3-pytest"))(
  "a virtual environment is used when the program that made it is missing",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "octant-no-uv-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const python = execFileSync("sh", ["-c", "command -v python3"], { encoding: "utf8" }).trim();
    const { root, run } = open(
      {
        "pyproject.toml": "[project]\nname = 'p'\n[dependency-groups]\ndev = ['pytest']\n",
        "uv.lock": "version = 1\n",
        "test_a.py": "def test_adds():\n    assert 1 + 1 == 2\n",
      },
      { ...process.env, PATH: [dirname(python), "/usr/bin", "/bin"].join(delimiter) },
    );
    mkdirSync(join(root, ".venv/bin"), { recursive: true });
    writeFileSync(join(root, ".venv/bin/python"), `#!/bin/sh\nexec ${python} "$@"\n`);
    chmodSync(join(root, ".venv/bin/python"), 0o755);
    const { data, error } = await run({});
    expect(error).toBeNull();
    expect(data).toMatchObject({ status: "passed", pass: 1 });
  },
);
