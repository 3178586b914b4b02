import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createScriptedProvider } from "@octant/scripted-provider";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { runOctant } from "./octant-process.ts";

let project: FixtureProject;
let packs: string;

beforeAll(() => {
  project = createFixtureProject();
  packs = join(project.root, "../packs");
  mkdirSync(packs, { recursive: true });
});
afterAll(() => project[Symbol.dispose]());

/** The built command in the project. */
const octant = (...args: readonly string[]) => callOctant(args, { cwd: project.root, env: project.env });

/** From nothing to a tool that an agent calls. */
const NEW_TOOL_MS = 120_000;

describe("octant pack", () => {
  test("pack test prints the error of an example that fails, and its cause", async () => {
    const at = join(packs, "faulty");
    await octant("pack", "new", at);
    const file = join(at, "src/index.ts");
    const faulty =
      'run: () => { throw new Error("no forecast", { cause: new Error("the station is closed") }); }';
    writeFileSync(file, readFileSync(file, "utf8").replace(/run: .*/, `${faulty},`));
    const { code, stdout } = await octant("pack", "test", at);
    expect(code).toBe(1);
    expect(stdout).toMatch(/fail faulty\.greet.*no forecast.*the station is closed/s);
  });

  test("a new pack passes the type check of its own tsconfig.json", async () => {
    const at = join(packs, "typed");
    await octant("pack", "new", at);
    const modules = join(import.meta.dirname, "../node_modules");
    symlinkSync(modules, join(at, "node_modules"));
    execFileSync(join(modules, ".bin/tsc"), ["-p", at]);
  });

  test("new, test, add, call: within two minutes an agent calls the tool", {
    timeout: NEW_TOOL_MS,
  }, async () => {
    const at = join(packs, "hello");
    const made = await octant("pack", "new", at, "--json");
    expect(JSON.parse(made.stdout).files).toHaveLength(5);
    const tested = await octant("pack", "test", at);
    expect(tested).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("ok   tests  src/index.test.ts"),
    });
    const refused = await octant("pack", "add", at);
    expect(refused).toMatchObject({ code: 2, stdout: expect.stringContaining("may see no files") });
    expect(await octant("pack", "add", at, "--yes")).toMatchObject({ code: 0 });
    const called = await octant("call", "hello.greet", "name=Ada", "--json");
    expect(JSON.parse(called.stdout)).toMatchObject({ ok: true, data: { text: "Hello, Ada!" } });

    await using model = await createScriptedProvider(({ answers, results }) =>
      answers === 0
        ? { parts: [{ call: "hello", input: { action: "greet", name: "model" } }] }
        : { parts: [{ text: `It says ${results[0]?.text}` }] },
    );
    const env = {
      ...project.env,
      ANTHROPIC_API_KEY: "sk-test-0",
      ANTHROPIC_BASE_URL: model.baseUrl("anthropic"),
    };
    const ran = await runOctant(["run", "greet", "--provider", "anthropic", "--model", "m"], {
      cwd: project.root,
      env,
    });
    expect(ran.stdout).toContain("Hello, model!");
    expect(model.requests[0]?.tools).toContain("hello");

    const listed = await octant("pack", "list", "--json");
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { name: "hello", runs: "in its own process", disabled: false },
    ]);
    expect((await octant("tools")).stdout).toMatch(/hello\.greet +read +sync +Greet a person by name/);
    expect((await octant("help", "hello")).stdout).toContain("Greet the world");
  });

  test("a deny rule holds for a pack's tool", async () => {
    const settings = join(project.root, ".hanzo/settings.json");
    mkdirSync(join(project.root, ".hanzo"), { recursive: true });
    writeFileSync(settings, JSON.stringify({ permissions: { "hello.greet": "deny" } }));
    const denied = await octant("call", "hello.greet", "name=Ada");
    writeFileSync(settings, "{}");
    expect(denied).toMatchObject({ code: 1, stderr: expect.stringContaining("PERMISSION_DENIED") });
  });

  test("changed files ask again; other tools go on", async () => {
    appendFileSync(join(packs, "hello/src/index.ts"), "// changed\n");
    const called = await octant("call", "hello.greet", "name=Ada");
    expect(called).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/has changed since you accepted it/),
    });
    expect(await octant("call", "fs.list", "uri=.")).toMatchObject({ code: 0 });
    expect(await octant("pack", "add", join(packs, "hello"), "--yes")).toMatchObject({ code: 0 });
    expect(await octant("call", "hello.greet", "name=Ada")).toMatchObject({ code: 0 });
    expect(await octant("pack", "remove", "hello")).toMatchObject({ code: 0 });
    expect((await octant("call", "hello.greet", "name=Ada")).stderr).toContain("UNKNOWN_TOOL");
  });

  test.each([
    ["a tool of Octant", { tool: "fs" }, /its tool 'fs' is taken; Octant has a tool of this name/],
    ["a tool that is off", { tool: "cas" }, /its tool 'cas' is taken; Octant has a tool of this name/],
    ["another core", { core: "^9.0.0" }, /was written for @octant\/core \^9\.0\.0, and this is 0\.1\.0/],
    ["rights that do not exist", { rights: { files: "all" } }, /octant\.rights\.files: Invalid option/],
    ["a broken module", { code: "export const tools = 7;" }, /tools: expected an export of this name/],
    [
      "an action without a run",
      { code: "export const tools = [{ name: 'x', summary: 'x', actions: { a: {} } }];" },
      /tools\.0\.actions\.a/,
    ],
  ])("a pack with %s is refused, and the message says why", async (name, change, message) => {
    const at = join(packs, name.replaceAll(" ", "-"));
    cpSync(join(packs, "hello"), at, { recursive: true });
    const { tool = "hello", core = "^0.1.0", rights = {}, code }: Record<string, unknown> = change;
    const manifest = JSON.parse(readFileSync(join(at, "package.json"), "utf8"));
    writeFileSync(
      join(at, "package.json"),
      JSON.stringify({
        ...manifest,
        peerDependencies: { "@octant/core": core },
        octant: { pack: "hello", rights },
      }),
    );
    const source = readFileSync(join(at, "src/index.ts"), "utf8").replace('name: "hello"', `name: "${tool}"`);
    writeFileSync(join(at, "src/index.ts"), typeof code === "string" ? code : source);
    const called = await octant("call", "ws.status", "--pack", at);
    expect(called).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
  });

  test("a project's own pack waits for trust by its content", async () => {
    cpSync(join(packs, "hello"), join(project.root, "tools/hello"), { recursive: true });
    writeFileSync(
      join(project.root, ".hanzo/settings.json"),
      JSON.stringify({ packs: { hello: { from: "./tools/hello" } } }),
    );
    const call = () => octant("call", "hello.greet", "name=Ada");
    expect(await call()).toMatchObject({ code: 1, stderr: expect.stringContaining("UNKNOWN_TOOL") });
    const shown = await octant("trust", "--yes");
    expect(shown.stdout).toMatch(/packs\.hello: .*"files":"none".*sha256:/);
    expect(await call()).toMatchObject({ code: 0 });
    appendFileSync(join(project.root, "tools/hello/src/index.ts"), "// planted\n");
    expect(await call()).toMatchObject({ code: 1, stderr: expect.stringContaining("UNKNOWN_TOOL") });
  });
});

test("the music pack stores its results with the tools that it uses", async () => {
  const music = join(import.meta.dirname, "../packs/music");
  const tune = "X:1\nT:Tune\nK:C\nCDEF|";
  const called = await octant("call", "abc.to_midi", `abc=${tune}`, "--pack", music, "--json");
  const { ok, data } = JSON.parse(called.stdout);
  expect(ok, called.stdout + called.stderr).toBe(true);
  expect(JSON.stringify(data)).toContain("artifact_");
});

test("a pack that is named for a run replaces the one of the settings", async () => {
  const at = join(packs, "twice");
  await octant("pack", "new", at);
  const settings = join(String(project.env["HOME"]), ".config/hanzo/settings.json");
  mkdirSync(join(settings, ".."), { recursive: true });
  writeFileSync(settings, JSON.stringify({ packs: { twice: { from: at } } }), { mode: 0o600 });
  const unaccepted = await octant("call", "twice.greet", "name=Ada");
  expect(unaccepted.stderr).toContain("pack 'twice' was never accepted, or has changed");
  const named = await octant("call", "twice.greet", "name=Ada", "--pack", at);
  expect(named).toMatchObject({ code: 0, stderr: expect.not.stringContaining("never accepted") });
});
