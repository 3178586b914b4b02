import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openProject, type ProjectSource } from "../../testing/test/open-project.ts";

const manifest = (name: string, more: object = {}) =>
  JSON.stringify({ name, type: "module", scripts: { test: "node --test" }, ...more });
const PASSING = 'import { test } from "node:test";\ntest("works", () => {});\n';
const FAILING = 'import { test } from "node:test";\ntest("does not", () => { throw new Error("no"); });\n';
const WAITING =
  'import { test } from "node:test";\ntest("waits", () => new Promise((done) => setTimeout(done, 60_000)));\n';

let project: ReturnType<typeof openProject>;
const open = (source: ProjectSource, env?: NodeJS.ProcessEnv) => {
  project = openProject(source, { env });
  return project;
};
afterEach(async () => {
  expect(project.bugs).toEqual([]);
  await project.close();
});

test("without a suite the tests of every package run, and each failure names its suite", async () => {
  const { run } = open({
    "package.json": JSON.stringify({ name: "mono", workspaces: ["packages/*"] }),
    "packages/good/package.json": manifest("good"),
    "packages/good/a.test.js": PASSING,
    "packages/bad/package.json": manifest("bad"),
    "packages/bad/a.test.js": FAILING,
  });
  const { data } = await run({});
  expect(data).toMatchObject({ status: "failed", pass: 1, fail: 1, skip: 0 });
  expect(data.suites.map(({ package: name, status }) => `${name} ${status}`).sort()).toEqual([
    "bad failed",
    "good passed",
  ]);
  expect(data.failures).toMatchObject([{ name: "does not", message: "no", of: "bad:node:test" }]);
  expect((await run({ suite: "good" })).data).toMatchObject({ status: "passed", pass: 1 });
  expect((await run({ suite: "packages/good" })).data).toMatchObject({ status: "passed", pass: 1 });
  expect((await run({ filter: "packages/bad/a.test.js" })).data).toMatchObject({ pass: 0, fail: 1 });
});

test("an unknown suite is refused at once, with the names of the existing ones", async () => {
  const { call } = open({ "package.json": manifest("one") });
  expect((await call("test.run", { suite: "two" })).error).toMatchObject({
    code: "NOT_FOUND",
    message: "no suite 'two'; there are one:node:test",
  });
});

test("a project without tests says so", async () => {
  const { run, call } = open({ "README.md": "# nothing\n" });
  expect((await run({})).error).toMatchObject({ code: "NOT_FOUND" });
  expect((await call("test.list", {})).data).toEqual({ suites: [] });
});

test("one suite that cannot run does not prevent the others from running", async () => {
  const { run } = open({
    "package.json": manifest("good"),
    "a.test.js": PASSING,
    "web/package.json": manifest("web", { scripts: {}, devDependencies: { jest: "*" } }),
  });
  const { data } = await run({});
  expect(data).toMatchObject({ status: "crashed", pass: 1 });
  expect(data.suites).toMatchObject([{ status: "crashed", runner: "jest" }, { status: "passed" }]);
  expect(data.reason).toContain("jest is not installed here");
});

test("a runner that is not installed is reported with instructions", async () => {
  const files = { "package.json": manifest("p", { scripts: {}, devDependencies: { vitest: "*" } }) };
  const { run } = open({
    ...files,
    "python/pytest.ini": "",
    "python/setup.py": "",
    "go/go.mod": "module x\n",
  });
  expect((await run({ suite: "vitest" })).error).toMatchObject({
    code: "UNSUPPORTED",
    message: 'vitest is not installed here; install the packages first, as in "npm install"',
  });
});

test("a program that is not on the PATH is neither run nor listed as a backend", async () => {
  const { run, registry } = open(
    {
      "pytest.ini": "",
      "setup.py": "",
      "go/go.mod": "module x\n",
      "rust/Cargo.toml": "[package]\nname='x'\n",
    },
    { PATH: "/nowhere", HOME: "/nowhere" },
  );
  for (const suite of ["pytest", "go test", "cargo test"])
    expect((await run({ suite })).error).toMatchObject({ code: "UNSUPPORTED" });
  const backends = (await registry.get("test")?.backends?.()) ?? [];
  expect(backends.filter(({ available }) => available)).toEqual([]);
  expect(backends.every(({ detail }) => detail !== undefined)).toBe(true);
});

test("cancelling the job ends the runner, and the run is recorded as cancelled", async () => {
  const { call, processes } = open({ "package.json": manifest("slow"), "a.test.js": WAITING });
  const started = await call("test.run", {});
  const { job_id } = started.meta;
  const { run_id } = started.data as { run_id: string };
  while ([...processes.list("me")].length === 0) await call("job.poll", { job_id, wait: 10 });
  expect((await call("job.cancel", { job_id })).data).toMatchObject({ job: { state: "cancelled" } });
  expect((await call("test.status", { run_id })).data).toMatchObject({ status: "cancelled" });
  expect([...processes.list("me")]).toMatchObject([{ status: "killed" }]);
});

test("a run is found again after a restart, and only by its owner", async () => {
  const { run, call, another } = open({ "package.json": manifest("kept"), "a.test.js": FAILING });
  const { run_id } = (await run({})).data;
  const { data } = await call("test.status", { run_id });
  const later = another();
  expect((await later.call("test.status", { run_id })).data).toEqual(data);
  expect((await later.run({ last_failed: true })).data).toMatchObject({ status: "failed", fail: 1 });
  const you = { id: "you", access: "admin" } as const;
  expect((await call("test.status", { run_id }, you)).error?.code).toBe("NOT_FOUND");
});

test("status pages through failures that did not fit into the answer", async () => {
  const tests = Array.from(
    { length: 50 },
    (_, i) => `test("t${i}", () => { throw new Error("no ".repeat(500)); });`,
  );
  const { run, call } = open({
    "package.json": manifest("many"),
    "a.test.js": ['import { test } from "node:test";', ...tests].join("\n"),
  });
  const { data } = await run({});
  expect(data).toMatchObject({ fail: 50, status: "failed" });
  expect(JSON.stringify(data).length).toBeLessThan(32_768);
  expect(data.failures.length + data.more_failures).toBe(50);
  const names: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await call("test.status", { run_id: data.run_id, ...(cursor && { cursor }) });
    names.push(...(page.data as typeof data).failures.map(({ name }) => name));
    cursor = page.meta.paging.cursor;
  } while (cursor);
  expect(names).toEqual(tests.map((_, i) => `t${i}`));
});

test("a command without a known format is judged by its exit code, and the answer says so", async () => {
  const script = (code: number) =>
    manifest("plain", { scripts: { test: `node -e "console.log('hm');process.exit(${code})"` } });
  const { run, root } = open({ "package.json": script(3) });
  const { data } = await run({});
  expect(data).toMatchObject({ status: "failed", pass: 0, fail: 0, suites: [{ runner: "script" }] });
  expect(data.reason).toContain("only its exit code is known: 3");
  expect(data.failures[0]?.message).toContain("hm");
  writeFileSync(join(root, "package.json"), script(0));
  expect((await run({})).data).toMatchObject({ status: "passed" });
  expect((await run({ filter: "x" })).error).toMatchObject({ code: "UNSUPPORTED" });
});

test("a fixed test is no longer among the last failures", async () => {
  const { run, root } = open({
    "package.json": manifest("mended"),
    "a.test.js": FAILING,
    "b.test.js": PASSING,
  });
  expect((await run({})).data).toMatchObject({ pass: 1, fail: 1 });
  writeFileSync(join(root, "a.test.js"), FAILING.replace('throw new Error("no");', ""));
  rmSync(join(root, "b.test.js"));
  expect((await run({ last_failed: true })).data).toMatchObject({ status: "passed", pass: 1, fail: 0 });
  expect((await run({ last_failed: true })).error).toMatchObject({ code: "NOT_FOUND" });
});

test("coverage and the number of workers are passed to the runner", async () => {
  const { run } = open({ "package.json": manifest("covered"), "a.test.js": PASSING });
  expect((await run({ coverage: true, parallel: 1 })).data).toMatchObject({ status: "passed", pass: 1 });
});

test("a test that replaces its results by a link to endless data breaks only its own run", async () => {
  const { run } = open({
    "package.json": manifest("hostile"),
    "a.test.js": `import { rmSync, symlinkSync } from "node:fs";
import { test } from "node:test";
test("replaces", () => {
  const file = process.env.OCTANT_TEST_EVENTS;
  rmSync(file, { force: true });
  symlinkSync("/dev/zero", file);
});
`,
  });
  const { data } = await run({});
  expect(data).toMatchObject({ status: "crashed" });
  expect(data.failures[0]?.message).toContain("did a test replace it?");
});
