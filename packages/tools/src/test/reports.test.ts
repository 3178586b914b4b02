import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createConfinement } from "@octant/host";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Breakage, TestCase } from "./case.ts";
import { readReports } from "./reports.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "octant-reports-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string, at = new Date()): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  utimesSync(join(root, path), at, at);
}

async function read(since: number) {
  const tests: TestCase[] = [];
  const broken: Breakage[] = [];
  const findings = {
    test: (one: TestCase) => tests.push(one),
    broken: (one: Breakage) => broken.push(one),
  };
  const complete = await readReports(createConfinement([root]), root, since, findings);
  return { tests, broken, complete };
}

const FAILED = `<testsuite><testcase name="adds" classname="com.x.SumsTest"><failure message="no">
	at org.junit.Assert.fail(Assert.java:89)
	at com.x.SumsTest.adds(SumsTest.java:9)</failure></testcase></testsuite>`;

test("reports of all modules are parsed, and a Java frame is located in the module's sources", async () => {
  const since = Date.now();
  write("core/src/test/java/com/x/SumsTest.java", "");
  write("core/target/surefire-reports/TEST-com.x.SumsTest.xml", FAILED);
  write("app/build/test-results/test/TEST-a.xml", '<testsuite><testcase name="b"/></testsuite>');
  const { tests, complete } = await read(since);
  expect(complete).toBe(true);
  expect(tests.map(({ name }) => name).sort()).toEqual(["adds", "b"]);
  const { problem } = tests.find(({ name }) => name === "adds") ?? {};
  expect(problem?.at).toEqual({ file: `${root}/core/src/test/java/com/x/SumsTest.java`, line: 9 });
});

test("older files and files that are not reports are ignored", async () => {
  write("old.xml", FAILED, new Date(Date.now() - 60_000));
  write("pom.xml", "<project><testsuites-plugin/></project>");
  write("node_modules/x/report.xml", FAILED);
  expect(await read(Date.now())).toEqual({ tests: [], broken: [], complete: undefined });
});

/** How often other work had a turn meanwhile. */
async function countTurns(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work;
  isOver = true;
  return turns;
}

test("millions of declarations in a report are skipped, and other work has its turn meanwhile", async () => {
  const since = Date.now();
  write("a.xml", `<testsuite>${"<!a>".repeat(2_000_000)}<testcase name="b"/></testsuite>`);
  const reading = read(since);
  expect(await countTurns(reading)).toBeGreaterThan(3);
  expect(await reading).toMatchObject({ tests: [{ name: "b" }], complete: true, broken: [] });
});

test.each([
  ["a million attributes", `<testcase name="b" ${'a="" '.repeat(1_000_000)}/>`],
  ["many attributes", `<testcase name="b" ${'a="" '.repeat(2_000)}/>`],
  ["a value without measure", `<testcase name="${"b".repeat(2_000_000)}"/>`],
])("a report with a tag of %s is refused, and said to be broken", async (_what, tag) => {
  const since = Date.now();
  write("a.xml", `<testsuite>${tag}</testsuite>`);
  expect(await read(since)).toMatchObject({
    tests: [],
    complete: false,
    broken: [{ name: `${root}/a.xml`, problem: { message: expect.stringContaining("attributes") } }],
  });
});

test("an oversized report is not read, and reported as broken", async () => {
  const since = Date.now();
  write("a.xml", "<testsuite>");
  truncateSync(join(root, "a.xml"), 33 * 1024 * 1024);
  const { tests, broken } = await read(since);
  expect(tests).toEqual([]);
  expect(broken).toMatchObject([{ problem: { message: "this report is too large to be read" } }]);
});
