import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openStateFolder } from "../state.ts";
import { createSandbox } from "./create-sandbox.ts";
import { confines, DEFAULT_SANDBOX, type SandboxLevel } from "./settings.ts";

// .ci/ordinary-user says which level this machine has to reach.
const expected = process.env["OCTANT_TEST_LEVEL"] as SandboxLevel | undefined;

const cache = join(import.meta.dirname, "../../../../node_modules/.cache");
mkdirSync(cache, { recursive: true });
// Not in a temp folder: those are private inside.
const base = realpathSync(mkdtempSync(join(cache, "ordinary-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const [root, home] = [join(base, "ws"), join(base, "home")];
mkdirSync(root);
mkdirSync(join(home, ".ssh"), { recursive: true });
writeFileSync(join(home, ".ssh/id"), "key");

const env = { PATH: process.env["PATH"] ?? "", HOME: home };
const warn = () => {};
const state = openStateFolder({ roots: [root], env: { XDG_STATE_HOME: join(base, "state") }, warn });
const sandbox = createSandbox({ roots: [root], settings: DEFAULT_SANDBOX, env, state });
afterAll(() => sandbox.close());

async function run(script: string): Promise<string> {
  const argv = ["/bin/sh", "-c", `${script}; true`] as const;
  const launched = await sandbox.wrap({ argv, env, folder: root, pty: false });
  const [program, ...args] = launched.argv;
  try {
    return execFileSync(program, args, { cwd: root, env: launched.env, encoding: "utf8", stdio: "pipe" });
  } finally {
    launched.release();
  }
}

test.skipIf(expected === undefined)(
  "the machine reaches its level, and reports a level that confines nothing",
  async () => {
    expect(await sandbox.status()).toMatchObject({ level: expected });
    expect((await sandbox.unconfined())?.accepted).toBe(confines(expected!) ? undefined : false);
  },
);

test("commands work in the project; where they are confined, nowhere else", async () => {
  const isConfined = confines((await sandbox.status()).level);
  expect(await run("echo new >made; cat made; id -u")).toBe(`new\n${process.getuid?.()}\n`);
  expect(await run(`cat ${home}/.ssh/id; touch ${base}/outside`)).toBe(isConfined ? "" : "key");
  expect(existsSync(join(base, "outside"))).toBe(!isConfined);
});
