import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, inject, test } from "vitest";
import { type OpenOptions, openProject } from "../packages/tools/testing/test/open-project.ts";

const REPOSITORY = join(import.meta.dirname, "..");
const FIXTURES = join(import.meta.dirname, "fixtures/runners");
const NO_TIME_MS = 4_000;

interface Row {
  readonly fixture: string;
  readonly runner: string;
  /** Checks whether the runner is on this machine. */
  readonly probe: readonly [string, ...string[]];
  /** The file with a passing, a failing and a skipped test, and one that cannot be loaded. */
  readonly mixed: string;
  /** A part of the names of all tests in that file. */
  readonly named: string;
  readonly broken: string;
  /**
   * One with an endless test. The timeout and the weaker sandboxes do not know the runner: one that loads our reporter and
   * one with a toolchain of its own stand for all.
   */
  readonly endless?: string;
  /** Where the failing test fails, counted from 0. */
  readonly failsAt: { readonly file: string; readonly line: number };
  readonly failure: object;
}

const ROWS: readonly Row[] = [
  {
    fixture: "vitest",
    runner: "vitest",
    probe: ["node", "--version"],
    mixed: "math.test.js",
    named: "sums",
    broken: "broken.test.js",
    failsAt: { file: "math.test.js", line: 7 },
    failure: { name: "adds wrongly", suite: ["sums"], expected: "3", actual: "2" },
  },
  {
    fixture: "jest",
    runner: "jest",
    probe: ["npm", "--version"],
    mixed: "math.test.js",
    named: "sums",
    broken: "broken.test.js",
    failsAt: { file: "math.test.js", line: 5 },
    failure: { name: "adds wrongly", suite: ["sums"], expected: "3", actual: "2" },
  },
  {
    fixture: "mocha",
    runner: "mocha",
    probe: ["node", "--version"],
    mixed: "test/math.js",
    named: "sums",
    broken: "test/broken.js",
    failsAt: { file: "test/math.js", line: 7 },
    failure: { name: "adds wrongly", suite: ["sums"], expected: "3", actual: "2" },
  },
  {
    // Without a browser: the test is about running and parsing the runner.
    fixture: "playwright",
    runner: "playwright",
    probe: [join(REPOSITORY, "node_modules/.bin/playwright"), "--version"],
    mixed: "math.spec.js",
    named: "sums",
    broken: "broken.spec.js",
    failsAt: { file: "math.spec.js", line: 7 },
    failure: { name: "adds wrongly", suite: ["math.spec.js", "sums"], expected: "3", actual: "2" },
  },
  {
    fixture: "node-test",
    runner: "node:test",
    probe: ["npm", "--version"],
    mixed: "math.test.js",
    named: "sums",
    broken: "broken.test.js",
    endless: "endless.test.js",
    failsAt: { file: "math.test.js", line: 8 },
    failure: { name: "adds wrongly", suite: ["sums"], expected: "3", actual: "2" },
  },
  {
    fixture: "pytest",
    runner: "pytest",
    probe: ["python3", "-m", "pytest", "--version"],
    mixed: "test_math.py",
    named: "Sums",
    broken: "test_broken.py",
    failsAt: { file: "test_math.py", line: 8 },
    failure: { name: "test_adds_wrongly", suite: ["TestSums"] },
  },
  {
    fixture: "unittest",
    runner: "unittest",
    probe: ["python3", "--version"],
    mixed: "test_math.py",
    named: "Sums",
    broken: "test_broken.py",
    failsAt: { file: "test_math.py", line: 8 },
    failure: { name: "test_adds_wrongly", suite: ["test_math", "Sums"], message: "2 != 3" },
  },
  {
    fixture: "go",
    runner: "go test",
    probe: ["go", "version"],
    mixed: "sums/sums_test.go",
    named: "Test",
    broken: "broken/broken_test.go",
    endless: "endless/endless_test.go",
    failsAt: { file: "sums/sums_test.go", line: 12 },
    failure: { name: "one_and_one", suite: ["example.com/fixture/sums", "TestAddsWrongly"] },
  },
  {
    fixture: "cargo",
    runner: "cargo test",
    probe: ["cargo", "--version"],
    mixed: "tests/sums.rs",
    named: "sums::",
    broken: "tests/broken.rs",
    failsAt: { file: "tests/sums.rs", line: 10 },
    failure: { name: "adds_wrongly", suite: ["sums"], expected: "3", actual: "2" },
  },
];

const projects: ReturnType<typeof openProject>[] = [];
afterAll(async () => {
  for (const project of projects) {
    expect(project.bugs).toEqual([]);
    await project.close();
  }
});

function openFixture(fixture: string, options: OpenOptions = {}) {
  const project = openProject(join(FIXTURES, fixture), options);
  projects.push(project);
  linkPackages(project.root);
  return project;
}

/** A copy where everything can be run. */
function openRunnable({ fixture, broken, endless }: Row, options?: OpenOptions) {
  const project = openFixture(fixture, options);
  for (const file of [broken, endless]) if (file !== undefined) rmSync(join(project.root, file));
  return project;
}

/** Links the packages that the project declares, and Node 24; node_modules itself stays in the workspace. */
function linkPackages(root: string): void {
  const source = join(REPOSITORY, "node_modules");
  const target = join(root, "node_modules");
  mkdirSync(join(target, ".bin"), { recursive: true });
  const linkProgram = (name: string) =>
    symlinkSync(realpathSync(join(source, ".bin", name)), join(target, ".bin", name));
  linkProgram("node");
  const manifest = join(root, "package.json");
  if (!existsSync(manifest)) return;
  for (const name of Object.keys(JSON.parse(readFileSync(manifest, "utf8")).devDependencies ?? {})) {
    mkdirSync(dirname(join(target, name)), { recursive: true });
    symlinkSync(join(source, name), join(target, name));
    const { bin } = JSON.parse(readFileSync(join(source, name, "package.json"), "utf8"));
    for (const program of typeof bin === "string" ? [name] : Object.keys(bin)) linkProgram(program);
  }
}

const isHere = ([program, ...args]: Row["probe"]): boolean => {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

/**
 * The other tests run in the strongest sandbox, the default. A machine without bubblewrap may not have namespaces
 * either.
 */
const otherLevels = ({ runner, endless }: Row) => [
  ...(endless === undefined || inject("missing").includes("bubblewrap") ? [] : (["unshare"] as const)),
  ...(runner === "pytest" ? (["off"] as const) : []),
];

describe.each(ROWS)("$runner", { concurrent: true }, (row) => {
  // In CI all of them are installed, and a missing one is a failure.
  const runner = test.skipIf(!process.env["CI"] && !isHere(row.probe));
  const project = openFixture(row.fixture);
  const { run, call } = project;

  runner(
    "runs by name, tells where and why one failed, and each as it ends; runs again what failed",
    async () => {
      const suite = row.runner;
      const named = openRunnable(row);
      const { data, started, job_id } = await named.run({ suite, filter: row.named });
      expect(started).toMatchObject({ status: "running", run_id: data.run_id });
      expect(data).toMatchObject({ status: "failed", pass: 1, fail: 1, skip: 1, more_failures: 0 });
      const { file, line } = row.failsAt;
      expect(data.failures).toMatchObject([{ ...row.failure, uri: `file://${named.root}/${file}` }]);
      expect(data.failures[0]?.range?.start.line).toBe(line);
      expect(data.suites).toMatchObject([{ runner: row.runner }]);
      expect((await named.call("test.status", { run_id: data.run_id })).data).toEqual(data);

      const polled = await named.call("job.poll", { job_id, from_seq: 0 });
      const lines = (polled.data as { events: { chunk?: { line?: string } }[] }).events.flatMap(
        ({ chunk }) => chunk?.line ?? [],
      );
      expect(lines.map((line) => line.split(" ")[0]).sort()).toEqual(["fail", "pass", "skip"]);

      expect((await named.run({ suite, filter: "no such name" })).data).toMatchObject({ status: "no_tests" });
      const again = await named.run({ suite, last_failed: true });
      expect(again.data).toMatchObject({ status: "failed", pass: 0, fail: 1 });
    },
  );

  runner.each(otherLevels(row))("gives the same results in the sandbox '%s'", async (level) => {
    const { data } = await openRunnable(row, { level }).run({});
    expect(data).toMatchObject({ status: "failed", pass: 1, fail: 1 });
    expect(data.failures).toMatchObject([row.failure]);
  });

  runner("runs one file, and calls it a crash when its tests cannot be loaded", async () => {
    const { data } = await run({ filter: row.broken });
    expect(data).toMatchObject({ status: "crashed", pass: 0, fail: 0 });
    expect(data.failures).toMatchObject([{ message: expect.stringMatching(/./) }]);
  });

  const { endless } = row;
  if (endless !== undefined)
    runner("ends a test that does not", async () => {
      const { data } = await run({ filter: endless, timeout: NO_TIME_MS });
      expect(data).toMatchObject({ status: "timed_out", pass: 0 });
    });

  runner("lists the suite and its files", async () => {
    const { data } = await call("test.list", {});
    const { suites } = data as { suites: { runner: string; files: string[] }[] };
    expect(suites).toMatchObject([{ runner: row.runner }]);
    expect(suites[0]?.files).toContain(`file://${project.root}/${row.mixed}`);
  });
});

// Maven compiles all tests together, so a compile error affects all of them. It needs seconds to start, so it runs little.
describe("maven", { concurrent: true }, () => {
  const runner = test.skipIf(!process.env["CI"] && !isHere(["mvn", "--version"]));
  const openWith = (name: "Sums" | "Broken") => {
    const project = openFixture("maven");
    const folder = join(project.root, "src/test/java/sums");
    for (const file of readdirSync(folder)) if (file !== `${name}Test.java`) rmSync(join(folder, file));
    return project;
  };

  runner("runs by name, tells where and why one failed, and runs that again", async () => {
    const { root, run } = openWith("Sums");
    const { data } = await run({ filter: "adds" });
    expect(data).toMatchObject({ status: "failed", pass: 1, fail: 1, skip: 1 });
    expect(data.failures).toMatchObject([
      {
        name: "addsWrongly",
        suite: ["sums.SumsTest"],
        expected: "3",
        actual: "2",
        uri: `file://${root}/src/test/java/sums/SumsTest.java`,
        range: { start: { line: 15 } },
      },
    ]);
    expect((await run({ last_failed: true })).data).toMatchObject({ status: "failed", pass: 0, fail: 1 });
  });
  runner("calls it a crash when tests cannot be compiled", async () => {
    expect((await openWith("Broken").run({})).data).toMatchObject({ status: "crashed", pass: 0, fail: 0 });
  });
});

describe.each(["junit", "tap"])("a command that speaks %s", (fixture) => {
  const project = openFixture(fixture);
  const runIn = (mode: string, input: object = {}) => {
    writeFileSync(join(project.root, "mode.txt"), mode);
    return project.run(input);
  };

  test("distinguishes passed, failed and skipped tests, with where and why one failed", async () => {
    const { data } = await runIn("mixed");
    expect(data).toMatchObject({ status: "failed", pass: 1, fail: 1, skip: 1 });
    expect(data.failures).toMatchObject([
      { name: "adds wrongly", suite: ["sums"], expected: "3", actual: "2", range: { start: {} } },
    ]);
    expect(data.failures[0]?.uri).toMatch(`file://${project.root}/`);
  });
  test("has crashed when its results are truncated", async () => {
    expect((await runIn("broken")).data).toMatchObject({ status: "crashed" });
  });
  test("may have no tests", async () => {
    expect((await runIn("empty")).data).toMatchObject({ status: "no_tests" });
  });
  test("is stopped when it does not end", async () => {
    expect((await runIn("endless", { timeout: 1_000 })).data).toMatchObject({ status: "timed_out" });
  });
});
