// Tasks in the Harbor layout, played by a scripted model through the real command.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ScriptedPart, ScriptedRequest, ScriptedTurn } from "@octant/scripted-provider";

const TASKS = join(import.meta.dirname, "agent-tasks");

export interface AgentTask {
  readonly name: string;
  readonly folder: string;
  readonly instruction: string;
  /** The calls of the scripted model, turn by turn. `$hash` stands for the last hash in a result. */
  readonly turns: readonly (readonly {
    readonly call: string;
    readonly input: Readonly<Record<string, unknown>>;
  }[])[];
  /** Programs required by its tests. */
  readonly needs: readonly string[];
}

export const listTasks = (): readonly AgentTask[] => readdirSync(TASKS).sort().map(loadTask);

export function loadTask(name: string): AgentTask {
  const folder = join(TASKS, name);
  const read = (path: string) => readFileSync(join(folder, path), "utf8");
  const [, needs = "[]"] = /^needs = (\[.*\])$/m.exec(read("task.toml")) ?? [];
  return {
    name,
    folder,
    instruction: read("instruction.md").trim(),
    turns: JSON.parse(read("solution/calls.json")),
    needs: JSON.parse(needs),
  };
}

export interface TaskProject extends Disposable {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether the task's own tests pass. */
  verify(): boolean;
  /** A digest of all files, without those of git and builds. */
  digest(): string;
}

/** A copy of the task's environment, and a person with an empty home. */
export function createTaskProject({ folder }: AgentTask): TaskProject {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-task-")));
  const root = join(base, "workspace");
  const home = join(base, "home");
  mkdirSync(home);
  cpSync(join(folder, "environment/files"), root, { recursive: true });
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    XDG_STATE_HOME: join(home, "state"),
    XDG_CONFIG_HOME: join(home, "config"),
    LANG: "C.UTF-8",
  };
  const run = (script: string) =>
    spawnSync("bash", [join(folder, script)], { cwd: root, env, encoding: "utf8" });
  if (existsSync(join(folder, "environment/setup.sh"))) {
    const { status, stderr } = run("environment/setup.sh");
    if (status !== 0) throw new Error(`the environment cannot be set up: ${stderr}`);
  }
  return {
    root,
    env,
    verify: () => run("tests/test.sh").status === 0,
    digest: () => digestOf(root),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

function digestOf(root: string): string {
  const hash = createHash("sha256");
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !/\/(\.git|__pycache__)\//.test(path))
    .sort();
  for (const path of files)
    hash.update(path.slice(root.length)).update("\0").update(readFileSync(path)).update("\0");
  return hash.digest("hex");
}

const HASH = /\b[0-9a-f]{12}\b/g;
export const DONE = "It is done.";

/** The scripted model's next answer, depending on the conversation. */
export function playTask({ turns }: AgentTask, { all_results }: ScriptedRequest): ScriptedTurn {
  const next = turns[turnAt(turns, all_results.length)];
  if (!next) return { parts: [{ text: DONE }] };
  const hash = all_results.flatMap(({ text }) => text.match(HASH)?.at(0) ?? []).at(-1);
  return { parts: next.map((part): ScriptedPart => ({ ...part, input: withHash(part.input, hash) })) };
}

/** The number of completed turns, by the number of their results. */
function turnAt(turns: AgentTask["turns"], results: number): number {
  let at = 0;
  for (let left = results; at < turns.length && left >= (turns[at]?.length ?? 0); at++)
    left -= turns[at]?.length ?? 0;
  return at;
}

const withHash = (input: Readonly<Record<string, unknown>>, hash: string | undefined) =>
  JSON.parse(JSON.stringify(input).replaceAll('"$hash"', JSON.stringify(hash ?? "000000000000")));
