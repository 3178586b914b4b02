import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { createProject, type TestProject } from "../../testing/config/project.ts";
import { listTrust, revokeTrust, trustFolder } from "./trust.ts";

const storeOf = (project: TestProject) => join(dirname(project.files.user), "trust.json");

test("trust is stored privately for the person, and listed", async () => {
  using project = createProject();
  project.write("project", '{"env":{"A":"1"}}');
  const { waiting } = project.load();
  await trustFolder(waiting, project);
  expect(statSync(storeOf(project)).mode & 0o777).toBe(0o600);
  expect(listTrust(project)).toMatchObject([
    { folder: project.root, tier: "project", hash: waiting[0]?.hash, trusted_at: expect.any(String) },
  ]);
});

test("the same content in another tier or folder has another hash", () => {
  using project = createProject();
  using other = createProject();
  for (const tier of ["project", "local"] as const)
    for (const one of [project, other]) one.write(tier, '{"env":{"A":"1"}}');
  const hashes = [project, other].flatMap((one) => one.load().waiting.map(({ hash }) => hash));
  expect(new Set(hashes).size).toBe(4);
});

test("revoking trust removes it, and only that one", async () => {
  using project = createProject();
  project.write("project", '{"env":{"A":"1"}}');
  await trustFolder(project.load().waiting, project);
  await trustFolder([{ folder: "/elsewhere", tier: "local", hash: "sha256:0" }], project);
  expect(await revokeTrust(project.root, project)).toBe(true);
  expect(await revokeTrust(project.root, project)).toBe(false);
  expect(project.load().waiting).toHaveLength(1);
  expect(listTrust(project).map(({ folder }) => folder)).toEqual(["/elsewhere"]);
});

test("trust is bound to the shown content, not to the current content of the file", async () => {
  using project = createProject();
  project.write("project", '{"env":{"A":"shown"}}');
  const { waiting } = project.load();
  project.write("project", '{"env":{"A":"swapped"}}');
  await trustFolder(waiting, project);
  expect(project.load().settings.env).toEqual({});
});

test.each([
  ["its content is not valid", (path: string) => writeFileSync(path, '{"trusted":[{"folder":1}]}')],
  ["is broken", (path: string) => writeFileSync(path, '{"trusted":[')],
  ["other users can write to", (path: string) => chmodSync(path, 0o666)],
])("a record of trust that %s counts for nothing, with a warning", async (_, spoil) => {
  using project = createProject();
  project.write("project", '{"env":{"A":"1"}}');
  await trustFolder(project.load().waiting, project);
  spoil(storeOf(project));
  const config = project.load();
  expect(config.settings.env).toEqual({});
  expect(config.warnings).toContainEqual(
    expect.stringContaining("trust.json in your settings folder does not count"),
  );
});

test("writers at the same time lose nothing", async () => {
  using project = createProject();
  const module = pathToFileURL(join(import.meta.dirname, "trust.ts")).href;
  const write = async (writer: number) => {
    const code = `import { trustFolder } from ${JSON.stringify(module)};
      for (let i = 0; i < 10; i++)
        await trustFolder([{ folder: "/f${writer}-" + i, tier: "local", hash: "sha256:0" }], { env: process.env });`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
      env: project.env,
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [exitCode] = await once(child, "exit");
    expect(exitCode).toBe(0);
  };
  await Promise.all([write(1), write(2), write(3)]);
  expect(listTrust(project)).toHaveLength(30);
  expect(readdirSync(dirname(storeOf(project))).sort()).toEqual(["trust.json", "trust.lock"]);
  expect(JSON.parse(readFileSync(storeOf(project), "utf8")).trusted).toHaveLength(30);
});

test("an entry of another version counts for nothing, and stays when others are added", async () => {
  using project = createProject();
  project.write("project", '{"env":{"A":"1"}}');
  await trustFolder(project.load().waiting, project);
  const { trusted } = JSON.parse(readFileSync(storeOf(project), "utf8"));
  const odd = { folder: "/elsewhere", scope: "from the future" };
  writeFileSync(storeOf(project), JSON.stringify({ trusted: [odd, ...trusted] }), { mode: 0o600 });
  expect(project.load()).toMatchObject({
    waiting: [],
    warnings: [expect.stringContaining("1 entry of another version")],
  });
  await trustFolder([{ folder: "/more", tier: "local", hash: "sha256:0" }], project);
  expect(JSON.parse(readFileSync(storeOf(project), "utf8"))).toMatchObject({
    version: 1,
    trusted: [odd, {}, {}],
  });
});

test("trust that a newer version stored counts for nothing, is reported, and is not overwritten", async () => {
  using project = createProject();
  project.write("project", '{"env":{"A":"1"}}');
  const text = '{"version": 2, "trusted": {}}';
  mkdirSync(dirname(storeOf(project)), { recursive: true });
  writeFileSync(storeOf(project), text, { mode: 0o600 });
  const { waiting, warnings } = project.load();
  expect(warnings).toContainEqual(expect.stringContaining("a newer version of Octant wrote it"));
  await expect(trustFolder(waiting, project)).rejects.toThrow("update Octant");
  expect(readFileSync(storeOf(project), "utf8")).toBe(text);
});
