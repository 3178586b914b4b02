import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Sandbox } from "@octant/host";
import { createOctant, type Octant, type OwnTool } from "../octant.ts";

/** One result of the check. Unless it is ok, `detail` says what to do. */
export interface Check {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
  /** The project does not need it: shown with --all only. */
  readonly extra?: true;
}

/** The parts of an open workspace that the checks use. */
type Checked = Pick<Octant<OwnTool>, "client" | "workspace">;

/** The capabilities as the tools themselves report them. */
export async function checkWorkspace({ client, workspace }: Checked): Promise<Check[]> {
  const { octant, roots, tools, state } = await client.ws.capabilities({});
  const { languages, test } = await client.ws.detect({});
  const uses = new Set(languages.map((one) => toServerName(one.name)));
  const runners = new Set(test.map(({ runner }) => runner));
  const isForThisProject = (tool: string, name: string) => {
    // No project depends on the desktop's screen.
    if (tool === "ui" && name === "screen") return false;
    if (name.startsWith("lsp:")) return uses.has(name.slice("lsp:".length));
    return tool !== "test" || runners.has(name);
  };
  const backends = tools.flatMap((tool) => tool.backends.map((backend) => ({ tool: tool.name, ...backend })));
  return [
    ok("octant", octant.version),
    ok("node", `${octant.node} on ${octant.platform} ${octant.arch}`),
    ...roots.map((root) => ok("root", root)),
    state.kind === "persistent"
      ? ok("state folder", workspace.state.path)
      : warn(
          "state folder",
          `${workspace.state.path} is temporary, so undo may be lost; make ~/.local/state writable or set XDG_STATE_HOME`,
        ),
    ...workspace.edits.givenUp().map((said) => warn("edits", `${said}; delete it when that is done`)),
    await checkSandbox(workspace.sandbox),
    ...backends.map(({ tool, name, available, version, detail }) => {
      const text = [version, detail].filter(Boolean).join(", ");
      const check = available
        ? ok(`${tool}: ${name}`, text || "found")
        : warn(`${tool}: ${name}`, text || "not found");
      return isForThisProject(tool, name) ? check : { ...check, extra: true as const };
    }),
  ];
}

/** Not ready until the person knows that nothing confines commands, or while the settings require more than there is. */
async function checkSandbox(sandbox: Sandbox): Promise<Check> {
  const { level, detail, unmet, limits } = await sandbox.status();
  const text = `${level}: ${detail}`;
  if (unmet !== undefined) return { name: "sandbox", status: "fail", detail: unmet };
  const unconfined = await sandbox.unconfined();
  if (!unconfined && limits !== undefined) return warn("sandbox", `${text}; ${limits}`);
  if (!unconfined) return ok("sandbox", text);
  if (unconfined.accepted) return warn("sandbox", text);
  return { name: "sandbox", status: "fail", detail: `${level}: ${unconfined.reason}` };
}

/** The name of the language in the checks of language servers. */
function toServerName(language: string): string {
  const name = language.toLowerCase();
  if (name === "c" || name === "c++") return "cpp";
  return name === "javascript" || name === "tsx" ? "typescript" : name;
}

const ok = (name: string, detail: string): Check => ({ name, status: "ok", detail });
const warn = (name: string, detail: string): Check => ({ name, status: "warn", detail });

const NAME = "test.run";
const MAX_RUN_MS = 30_000;
const MINI_PROJECT = {
  "package.json": JSON.stringify({ name: "octant-doctor", type: "module", scripts: { test: "node --test" } }),
  "mini.test.js":
    'import { test } from "node:test";\ntest("passes", () => {});\ntest("fails", () => { throw new Error("as it should"); });\n',
};

/** Runs a real test suite in the person's sandbox, with one passing and one failing test. */
export async function checkTestRun(env: NodeJS.ProcessEnv): Promise<Check> {
  if (!isOnPath("npm", env))
    return { name: NAME, status: "warn", detail: "not tried; npm is not on the PATH" };
  let base: string;
  try {
    base = realpathSync(mkdtempSync(join(tmpdir(), "octant-doctor-")));
  } catch {
    const detail = `${tmpdir()} cannot be written to; set TMPDIR to a folder of yours, or unset it`;
    return { name: "temp folder", status: "fail", detail };
  }
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
  const { level, unmet } = await octant.workspace.sandbox.status();
  if (unmet !== undefined) return warn(NAME, "not tried, because commands are refused here");
  const { run_id } = await octant.client.test.run({ timeout: MAX_RUN_MS });
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
