import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openProject } from "../packages/tools/testing/test/open-project.ts";
import { SHAPES } from "./code-shapes.ts";

interface Tested {
  /** Of a shape in code-shapes.ts. */
  readonly shape: string;
  /** Its tests. */
  readonly files: Readonly<Record<string, string>>;
  readonly suite: string;
  readonly others?: readonly string[];
  /** Whether the runner is on this machine. */
  readonly probe: string;
  /** The runner itself, and how many tests it says that passed, failed and were skipped. */
  readonly own: string;
  readonly counts: (output: string) => readonly [pass: number, fail: number, skip: number];
  /** A name that one test has, and a file with its number of tests; undefined where the runner cannot be narrowed so. */
  readonly named: string;
  readonly file?: readonly [path: string, tests: number];
  /** The command that the refusal before a build names. */
  readonly build?: string;
}

const number = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);
const matches = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;

const NODE_TESTS =
  "const t = require('node:test'); t('adds', () => {}); t('fails', () => { throw new Error('no'); }); t('waits', { skip: true }, () => {});\n";
const NODE_COUNTS: Tested["counts"] = (text) => [
  number(text, /^# pass (\d+)/m),
  number(text, /^# fail (\d+)/m),
  number(text, /^# skipped (\d+)/m),
];
const CTEST = (shape: string): Tested => ({
  shape,
  files: {
    "CMakeLists.txt":
      "cmake_minimum_required(VERSION 3.10)\nproject(prices CXX)\nenable_testing()\nadd_executable(prices src/main.cpp src/price.cpp)\ntarget_include_directories(prices PRIVATE include)\nadd_test(NAME adds COMMAND true)\nadd_test(NAME fails COMMAND false)\nadd_test(NAME runs COMMAND true)\n",
  },
  suite: "prices:ctest",
  probe: "ctest --version && c++ --version",
  build: "cmake -S . -B build && cmake --build build",
  own: "ctest --test-dir build",
  counts: (text) => [matches(text, / Passed /g), number(text, /, (\d+) tests failed/), 0],
  named: "adds",
});

const TESTED: readonly Tested[] = [
  {
    shape: "CommonJS app",
    files: {
      "package.json": '{ "name": "shop", "scripts": { "test": "node --test" } }\n',
      "test/sum.test.js": NODE_TESTS,
    },
    suite: "shop:node:test",
    probe: "node --version",
    own: "node --test --test-reporter=tap test/sum.test.js",
    counts: NODE_COUNTS,
    named: "adds",
    file: ["test/sum.test.js", 3],
  },
  {
    shape: "TypeScript monorepo with barrels",
    files: {
      "packages/core/package.json": '{ "name": "core", "scripts": { "test": "node --test" } }\n',
      "packages/core/sum.test.cjs": NODE_TESTS,
      "packages/app/package.json": '{ "name": "app", "scripts": { "test": "node --test" } }\n',
      "packages/app/label.test.cjs": "require('node:test')('labels', () => {});\n",
    },
    suite: "core:node:test",
    others: ["app:node:test"],
    probe: "node --version",
    own: "node --test --test-reporter=tap packages/*/*.test.cjs",
    counts: NODE_COUNTS,
    named: "adds",
    file: ["packages/core/sum.test.cjs", 3],
  },
  {
    shape: "Go with make",
    files: {
      "bill/more_test.go":
        'package bill\n\nimport "testing"\n\nfunc TestFails(t *testing.T) { t.Fatal("no") }\nfunc TestWaits(t *testing.T) { t.Skip("later") }\n',
    },
    suite: "example.com/bills:go test",
    others: ["project:make"],
    probe: "go version",
    own: "go test -v ./...",
    counts: (text) => [
      matches(text, /^--- PASS/gm),
      matches(text, /^--- FAIL/gm),
      matches(text, /^--- SKIP/gm),
    ],
    named: "TestSplit",
    file: ["bill/more_test.go", 2],
  },
  {
    shape: "Python with uv and .venv",
    files: {
      "pyproject.toml":
        '[project]\nname = "shop"\nversion = "1"\n[tool.pytest.ini_options]\npythonpath = ["src"]\n',
      ".venv/bin/python": '#!/bin/sh\nexec python3 "$@"\n',
      "tests/test_more.py":
        "import pytest\n\ndef test_fails():\n    assert 1 == 2\n\n@pytest.mark.skip\ndef test_waits():\n    pass\n",
    },
    suite: "shop:pytest",
    probe: "python3 -m pytest --version && ! uv --version",
    own: "python3 -m pytest -q -p no:cacheprovider",
    counts: (text) => [
      number(text, /(\d+) passed/),
      number(text, /(\d+) failed/),
      number(text, /(\d+) skipped/),
    ],
    named: "test_discount",
    file: ["tests/test_more.py", 2],
  },
  {
    shape: "mixed TypeScript, Python and shell",
    files: {
      "service/pyproject.toml": '[project]\nname = "service"\n',
      "service/test_gross.py":
        "import unittest\n\nfrom gross import gross\n\nclass Gross(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(gross(1), 1.2)\n\n    def test_fails(self):\n        self.assertEqual(gross(1), 3)\n",
    },
    suite: "service:unittest",
    probe: "python3 --version",
    own: "cd service && python3 -m unittest -v",
    counts: (text) => [matches(text, /\.\.\. ok$/gm), matches(text, /\.\.\. FAIL$/gm), 0],
    named: "test_adds",
    file: ["service/test_gross.py", 2],
  },
  CTEST("C++ with a compile database"),
  CTEST("C++ without a compile database"),
  {
    shape: "Ruby",
    files: {
      Rakefile:
        "require 'rake/testtask'\nRake::TestTask.new { |t| t.libs << 'lib'; t.pattern = 'test/*_test.rb' }\n",
      "test/account_test.rb":
        "require 'minitest/autorun'\nrequire 'account'\nclass AccountTest < Minitest::Test\n  def test_settles; assert_equal 1, Account.new.settle!(1); end\n  def test_fails; assert_equal 1, 2; end\n  def test_waits; skip 'later'; end\nend\n",
      "test/other_test.rb":
        "require 'minitest/autorun'\nclass OtherTest < Minitest::Test\n  def test_other; assert true; end\nend\n",
    },
    suite: "project:minitest",
    probe: "rake --version && ruby -e 'require %(minitest)'",
    own: "env -u TEST rake test",
    counts: (text) => {
      const [, runs = 0, failures = 0, errors = 0, skips = 0] = (
        /(\d+) runs, \d+ assertions, (\d+) failures, (\d+) errors, (\d+) skips/.exec(text) ?? []
      ).map(Number);
      return [runs - failures - errors - skips, failures + errors, skips];
    },
    named: "test_settles",
    file: ["test/account_test.rb", 3],
  },
  {
    shape: "Rust with macros",
    files: {
      "tests/more.rs": '#[test]\nfn fails() {\n    panic!("no");\n}\n#[test]\n#[ignore]\nfn waits() {}\n',
    },
    suite: "prices:cargo test",
    probe: "cargo --version",
    own: "cargo test --offline --no-fail-fast",
    counts: (text) => [
      matches(text, /^test .* \.\.\. ok$/gm),
      matches(text, /^test .* \.\.\. FAILED$/gm),
      matches(text, /^test .* \.\.\. ignored$/gm),
    ],
    named: "checks",
    file: ["tests/more.rs", 2],
  },
  {
    shape: "PHP",
    files: {
      "composer.json": '{ "name": "shop/prices", "scripts": { "test": "phpunit tests" } }\n',
      "phpunit.xml":
        '<phpunit><testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>\n',
      "tests/PriceTest.php":
        "<?php\nrequire_once 'src/price.php';\nfinal class PriceTest extends PHPUnit\\Framework\\TestCase {\n  public function testShows(): void { $this->assertSame('€ 1', format_price(1)); }\n  public function testFails(): void { $this->assertSame(1, 2); }\n  public function testWaits(): void { $this->markTestSkipped('later'); }\n}\n",
    },
    suite: "shop/prices:phpunit",
    probe: "phpunit --version",
    own: "phpunit",
    counts: (text) => {
      const [fail, skip] = [number(text, /Failures: (\d+)/), number(text, /Skipped: (\d+)/)];
      return [number(text, /Tests: (\d+)/) - fail - skip, fail, skip];
    },
    named: "testShows",
    file: ["tests/PriceTest.php", 3],
  },
];

/** Maven is judged in runners.test.ts, by a fixture that works without the network. */
const JUDGED_ELSEWHERE = ["Maven"];

test("every shape has tests", () => {
  const judged = [...TESTED.map(({ shape }) => shape), ...JUDGED_ELSEWHERE];
  expect(judged.toSorted()).toEqual(SHAPES.map(({ name }) => name).toSorted());
});

const shell = (command: string, cwd?: string) => spawnSync("sh", ["-c", command], { cwd, encoding: "utf8" });

describe.each(TESTED)("$shape", (row) => {
  const isHere = shell(row.probe).status === 0;

  test.skipIf(!isHere)("test.list and test.run say what the runner says", async () => {
    const shape = SHAPES.find(({ name }) => name === row.shape);
    const { root, call, run, close } = openProject({ ...shape?.files, ...row.files });
    onTestFinished(close);
    if (existsSync(join(root, ".venv/bin/python"))) chmodSync(join(root, ".venv/bin/python"), 0o755);
    const { suites } = (await call("test.list", {})).data as { suites: readonly { suite: string }[] };
    expect(suites.map(({ suite }) => suite).toSorted()).toEqual(
      [row.suite, ...(row.others ?? [])].toSorted(),
    );
    if (row.build !== undefined) {
      expect((await run({})).error?.message).toContain(row.build);
      expect(shell(row.build, root).status).toBe(0);
    }

    const [suite, others] = [row.suite, row.others ?? []];
    const isAll = others.every((other) => !other.endsWith(":make"));
    const { data, error } = await run(isAll ? {} : { suite });
    expect(error).toBeNull();
    const { stdout, stderr } = shell(row.own, root);
    const [pass, fail, skip] = row.counts(stdout + stderr);
    expect(data).toMatchObject({ status: "failed", pass, fail, skip });
    expect(pass).toBeGreaterThan(0);
    expect(fail).toBe(1);

    expect((await run({ suite, filter: row.named })).data).toMatchObject({ status: "passed", pass: 1 });
    const again = (await run({ suite, last_failed: true })).data;
    // The run by name was the last one, and nothing failed in it.
    expect(again ?? null).toBeNull();
    if (row.file === undefined) return;
    const [path, tests] = row.file;
    const byFile = (await run({ suite, filter: path })).data;
    expect(byFile.pass + byFile.fail + byFile.skip).toBe(tests);
    const failed = (await run({ suite, last_failed: true })).data;
    expect(failed).toMatchObject({ status: "failed", pass: 0, fail: 1 });
    expect(readFileSync(join(root, path), "utf8")).toContain(failed.failures[0]?.name);
  });
});
