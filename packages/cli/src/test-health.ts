import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Io } from "./command.ts";
import type { Check } from "./health.ts";
import { createOctant } from "./octant.ts";

const NAME = "test.run";
const MAX_RUN_MS = 30_000;
const MINI_PROJECT = {
  "package.json": JSON.stringify({ name: "octant-doctor", type: "module", scripts: { test: "node --test" } }),
  "mini.test.js":
    'import { test } from "node:test";\ntest("passes", () => {});\ntest("fails", () => { throw new Error("as it should"); });\n',
};

/** Runs a real test suite in the person's sandbox, with one passing and one failing test. */
export async function checkTestRun({ env }: Pick<Io, "env">): Promise<Check> {
  if (!isOnPath("npm", env))
    return { name: NAME, status: "warn", detail: "not tried; npm is not on the PATH" };
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-doctor-")));
  try {
    const root = join(base, "project");
    mkdirSync(root);
    for (const [name, text] of Object.entries(MINI_PROJECT)) writeFileSync(join(root, name), text);
    return await runMiniTest(root, { ...env, XDG_STATE_HOME: join(base, "state") });
  } catch (cause) {
    return failed(cause instanceof Error ? cause.message : String(cause));
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

async function runMiniTest(root: string, env: NodeJS.ProcessEnv): Promise<Check> {
  await using octant = createOctant({ roots: [root], env, tools: ["test", "job"] });
  const { run_id } = await octant.client.test.run({ timeout: MAX_RUN_MS });
  const { level } = await octant.workspace.sandbox.status();
  const deadline = Date.now() + 2 * MAX_RUN_MS;
  for (;;) {
    const { status, pass, fail, reason } = await octant.client.test.status({ run_id });
    if (status === "running" && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      continue;
    }
    if (status === "failed" && pass === 1 && fail === 1)
      return { name: NAME, status: "ok", detail: `a small suite of node:test ran in the sandbox '${level}'` };
    const found = `status ${status}, ${pass} passed, ${fail} failed`;
    return failed(reason === undefined ? found : `${found}: ${reason}`);
  }
}

const POLL_MS = 100;

const isOnPath = (program: string, { PATH = "" }: NodeJS.ProcessEnv): boolean =>
  PATH.split(delimiter).some((folder) => existsSync(join(folder, program)));

const failed = (why: string): Check => ({
  name: NAME,
  status: "fail",
  detail: `a small suite of node:test, with one test that passes and one that fails, did not run as it should (${why}); report this, and use proc.exec meanwhile`,
});
