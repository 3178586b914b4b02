import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createConfinement } from "@octant/host";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { TestCase } from "./case.ts";
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
  const findings = { test: (one: TestCase) => tests.push(one), broken: () => {} };
  const complete = await readReports(createConfinement([root]), root, since, findings);
  return { tests, complete };
}

const FAILED = `<testsuite><testcase name="adds" classname="com.x.SumsTest"><failure message="no">
	at org.junit.Assert.fail(Assert.java:89)
	at com.x.SumsTest.adds(SumsTest.java:9)</failure></testcase></testsuite>`;

test("reports of all modules are read, and a Java frame is found in the module's sources", async () => {
  write("core/src/test/java/com/x/SumsTest.java", "");
  write("core/target/surefire-reports/TEST-com.x.SumsTest.xml", FAILED);
  write("app/build/test-results/test/TEST-a.xml", '<testsuite><testcase name="b"/></testsuite>');
  const { tests, complete } = await read(Date.now());
  expect(complete).toBe(true);
  expect(tests.map(({ name }) => name).sort()).toEqual(["adds", "b"]);
  const { problem } = tests.find(({ name }) => name === "adds") ?? {};
  expect(problem?.at).toEqual({ file: `${root}/core/src/test/java/com/x/SumsTest.java`, line: 9 });
});

test("what was there before the run, or is no report, is not read", async () => {
  write("old.xml", FAILED, new Date(Date.now() - 60_000));
  write("pom.xml", "<project><testsuites-plugin/></project>");
  write("node_modules/x/report.xml", FAILED);
  expect(await read(Date.now())).toEqual({ tests: [], complete: undefined });
});
