import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { ended, runOctant, startOctant } from "./octant-process.ts";
import { LAUNCHER } from "./published-command.ts";

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
});

/** The machine's own Node, when it is too old for Octant. */
const oldNode = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .map((folder) => join(folder, "node"))
  .find((node) => {
    const major = Number.parseInt(
      spawnSync(node, ["-p", "process.versions.node"]).stdout?.toString() ?? "",
      10,
    );
    return major >= 14 && major < 24;
  });

let project: FixtureProject;
let folder: string;
beforeEach(() => {
  project = createFixtureProject();
  folder = mkdtempSync(join(tmpdir(), "octant-launcher-"));
});
afterEach(() => {
  project[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** A package as published: no sources. */
function publish(main?: string): string {
  cpSync(dirname(LAUNCHER), join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "version": "9.9.9" }');
  mkdirSync(join(folder, "dist"));
  if (main !== undefined) writeFileSync(join(folder, "dist/main.js"), main);
  return join(folder, "bin/octant.js");
}

test("a package without sources runs the build output", async () => {
  const launcher = publish("export const main = (argv) => console.log('built', ...argv);");
  const { stdout, stderr, code } = await runOctant(["a", "b"], { cwd: folder, launcher });
  expect({ stdout, stderr, code }).toEqual({ stdout: "built a b\n", stderr: "", code: 0 });
});

test.skipIf(process.getuid?.() !== 0).each([undefined, "", "relative"])(
  "a user without any home (HOME is %j) gets that of containers",
  (HOME) => {
    const launcher = publish("export const main = () => console.log(process.env.HOME);");
    chmodSync(folder, 0o755);
    const NOBODY = 42_420;
    const env = { PATH: process.env["PATH"], HOME, NODE_DISABLE_COMPILE_CACHE: "1" };
    const options = { cwd: "/", uid: NOBODY, gid: NOBODY, env, encoding: "utf8" } as const;
    expect(spawnSync(process.execPath, [launcher], options)).toMatchObject({ stderr: "", stdout: "/\n" });
  },
);

test.skipIf(process.getuid?.() !== 0)("a HOME that sudo left from another user is replaced, and told", () => {
  const launcher = publish("export const main = () => console.log(process.env.HOME);");
  chmodSync(folder, 0o755);
  const HOME = mkdtempSync(join(folder, "home-"));
  const ORDINARY = 42_420;
  const env = { PATH: process.env["PATH"], HOME, NODE_DISABLE_COMPILE_CACHE: "1" };
  const options = { cwd: "/", uid: ORDINARY, gid: ORDINARY, env, encoding: "utf8" } as const;
  const { stdout, stderr } = spawnSync(process.execPath, [launcher], options);
  expect(stderr).toBe(
    `octant: HOME is ${JSON.stringify(HOME)}, which this user may not read; / is used instead\n`,
  );
  expect(stdout).toBe("/\n");
});

describe.skipIf(oldNode === undefined)("under a Node that is too old", () => {
  const run = (args: readonly string[], launcher = LAUNCHER) =>
    runOctant(args, { cwd: project.root, env: project.env, node: oldNode as string, launcher });

  const serve = async () => {
    const child = startOctant(["serve"], { cwd: project.root, env: project.env, node: oldNode as string });
    child.stdin.write(`${INITIALIZE}\n`);
    await once(child.stdout, "data");
    return child;
  };

  test("the bundled one takes over, with arguments and exit code", async () => {
    expect(await run(["--version"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    expect(await run(["no such command"])).toMatchObject({ code: 2, stdout: "" });
  });

  test("without one, a line says what to do", async () => {
    const { code, stdout, stderr } = await run(["--version"], publish());
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toMatch(/^octant: Node 24 or later is needed and this is v\d.*install.*\n$/);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "%s reaches the server, which ends in order",
    async (signal) => {
      const child = await serve();
      child.kill(signal);
      expect(await ended(child)).toMatchObject({ code: 0, stderr: "" });
    },
  );

  test("the server exits when the launcher is killed, though stdin stays open", async () => {
    const child = await serve();
    child.kill("SIGKILL");
    // `ended` waits until stdout is closed everywhere.
    expect(await ended(child)).toMatchObject({ signal: "SIGKILL", stderr: "" });
  });

  test("no variable of the launcher is left in the environment", async () => {
    const launcher = publish("export const main = () => console.log(Object.keys(process.env).join());");
    mkdirSync(join(folder, "node_modules"));
    const bundled = `node_modules/node-${process.platform}-${process.arch}`;
    symlinkSync(join(import.meta.dirname, "..", bundled), join(folder, bundled));
    const { stdout } = await run([], launcher);
    expect(stdout).toContain("HOME");
    expect(stdout).not.toMatch(/OCTANT_|NODE_CHANNEL/);
  });
});
