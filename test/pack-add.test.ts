import { execFile } from "node:child_process";
import { appendFileSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { createNpmRegistry } from "./npm-registry.ts";
import { runOctant } from "./octant-process.ts";

/** A pack as it would be published: JavaScript, and an install script that must not run. */
const moduleOf = (version: string) => `
import { action, defineTool } from "@octant/core";
import { z } from "zod";
export const settings = z.strictObject({ color: z.enum(["red", "blue"]).default("red") });
export const tools = (context) => [defineTool({
  name: "paint", summary: "Names colors.",
  actions: {
    pick: action({
      summary: "Name the color.", access: "read", timing: "sync", intent: "inspect",
      input: z.strictObject({}), output: z.object({ color: z.string(), home: z.string(), version: z.string() }),
      examples: [{ title: "Pick", input: {} }],
      run: () => ({ color: context.settings.color, home: process.env.HOME, version: "${version}" }),
    }),
  },
})];
`;

let project: FixtureProject;
let folder: string;
let home: string;
let registry: Awaited<ReturnType<typeof createNpmRegistry>>;
beforeAll(async () => {
  project = createFixtureProject();
  home = String(project.env["HOME"]);
  folder = mkdtempSync(join(tmpdir(), "octant-published-"));
  registry = await createNpmRegistry();
  writeFileSync(join(home, ".npmrc"), `registry=${registry.url}\n${registry.npmrc}`);
  // The registry of a project is not the person's.
  writeFileSync(join(project.root, ".npmrc"), "registry=http://127.0.0.1:9/\n");
  for (const version of ["0.1.0", "0.2.0"]) await publish(version);
});
afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  project[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function publish(version: string): Promise<void> {
  const at = join(folder, version);
  mkdirSync(at);
  const manifest = {
    name: "octant-pack-paint",
    version,
    type: "module",
    exports: "./index.js",
    scripts: { postinstall: `touch ${folder}/ran` },
    peerDependencies: { "@octant/core": "^0.1.0" },
    octant: { pack: "paint", rights: version === "0.1.0" ? {} : { network: ["example.com"] } },
  };
  writeFileSync(join(at, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(at, "index.js"), moduleOf(version));
  const env = { PATH: process.env["PATH"], HOME: home };
  await promisify(execFile)("npm", ["publish"], { cwd: at, env });
}

const octant = (...args: readonly string[]) => runOctant(args, { cwd: project.root, env: project.env });
const pick = async () => JSON.parse((await octant("call", "paint.pick", "--json")).stdout);

describe("octant pack add NAME", () => {
  test("installs from the person's registry without scripts, shows the rights, and works in the sandbox", async () => {
    const added = await octant("pack", "add", "octant-pack-paint@0.1.0", "--yes");
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining("paint 0.1.0") });
    expect(added.stdout).toContain("may see no files of the workspace; reach no network; start no programs");
    expect(existsSync(join(folder, "ran"))).toBe(false);
    expect(await pick()).toMatchObject({ ok: true, data: { color: "red", home: "/tmp", version: "0.1.0" } });
    const [listed] = JSON.parse((await octant("pack", "list", "--json")).stdout);
    expect(listed).toMatchObject({
      name: "paint",
      from: "octant-pack-paint",
      version: "0.1.0",
      tier: "user",
    });
  });

  test("another version asks again, with its own rights", async () => {
    const refused = await octant("pack", "add", "octant-pack-paint@0.2.0");
    expect(refused).toMatchObject({ code: 2, stdout: expect.stringContaining("reach example.com") });
    const called = await octant("call", "paint.pick");
    expect(called.stderr).toContain("has changed since you accepted it");
    expect(await octant("pack", "add", "octant-pack-paint", "--yes")).toMatchObject({ code: 0 });
    expect(await pick()).toMatchObject({ data: { version: "0.2.0" } });
  });

  test("files that change after the installation wait, too", async () => {
    const [file = ""] = globSync(".local/share/**/octant-pack-paint/index.js", { cwd: home });
    appendFileSync(join(home, file), "// planted\n");
    expect((await octant("call", "paint.pick")).stderr).toContain("has changed since you accepted it");
    expect(await octant("pack", "remove", "paint")).toMatchObject({ code: 0 });
  });

  test("a name that the registry does not know is an error that says so", async () => {
    const missing = await octant("pack", "add", "octant-pack-missing", "--yes");
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/EXEC_FAILED: npm install failed.*404/s),
    });
    expect(JSON.parse((await octant("pack", "list", "--json")).stdout)).toEqual([]);
  });
});

describe("settings of a pack", () => {
  const settings = () => join(home, ".config/hanzo/settings.json");
  const configure = (given: object, more: object = {}) =>
    writeFileSync(
      settings(),
      JSON.stringify({ packs: { paint: { from: join(folder, "0.1.0"), settings: given, ...more } } }),
      { mode: 0o600 },
    );
  test("reach the pack, in its process and in Octant's, and with --pack", async () => {
    expect(await octant("pack", "add", join(folder, "0.1.0"), "--yes")).toMatchObject({ code: 0 });
    configure({ color: "blue" });
    expect(await pick()).toMatchObject({ data: { color: "blue", home: "/tmp" } });
    configure({ color: "blue" }, { in_process: true });
    expect(await pick()).toMatchObject({ data: { color: "blue", home } });
    configure({ color: "blue" }, { disabled: true });
    const named = await octant("call", "paint.pick", "--json", "--pack", join(folder, "0.1.0"));
    expect(JSON.parse(named.stdout)).toMatchObject({ data: { color: "blue", home: "/tmp" } });
  });

  test("that the pack refuses are named without their values, and other tools work", async () => {
    configure({ color: "sk-secret-value", extra: 1 });
    const refused = await octant("call", "paint.pick");
    expect(refused.stderr).toMatch(
      /packs\.paint\.settings: color: Invalid option.*Unrecognized key: "extra"/s,
    );
    expect(refused.stdout + refused.stderr).not.toContain("sk-secret-value");
    expect(await octant("call", "fs.list", "uri=.")).toMatchObject({ code: 0 });
    expect(await octant("pack", "remove", "paint")).toMatchObject({ code: 0 });
  });
});

test("--in-process is shown as what it is, and runs with the person's rights", async () => {
  const added = await octant("pack", "add", join(folder, "0.1.0"), "--in-process", "--yes");
  expect(added.stdout).toContain("runs in Octant's process, with all your rights");
  expect(await pick()).toMatchObject({ ok: true, data: { home } });
  const [listed] = JSON.parse((await octant("pack", "list", "--json")).stdout);
  expect(listed).toMatchObject({ name: "paint", runs: "in process" });
});
