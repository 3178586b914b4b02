import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  type Caller,
  createCursors,
  createDispatcher,
  createJobEvents,
  createJobs,
  createRegistry,
  type Envelope,
} from "@octant/core";
import {
  createConfinement,
  createJobStore,
  createProcesses,
  createSandbox,
  DEFAULT_SANDBOX,
  openStateFolder,
  type SandboxSettings,
  systemClock,
} from "@octant/host";
import { job } from "../../src/job/index.ts";
import { test as testTool } from "../../src/test/index.ts";
import type { RunResult } from "../../src/test/result.ts";

/** Files by path, or the folder to copy. */
export type ProjectSource = Readonly<Record<string, string>> | string;

export interface OpenOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly level?: "bubblewrap" | "unshare" | "any" | "off";
}

/** Without bubblewrap, any level that this machine supports; CI has bubblewrap. */
function strongestLevel(): "bubblewrap" | "any" {
  const bubblewrap = spawnSync("bwrap", ["--unshare-pid", "--ro-bind", "/", "/", "true"]);
  return process.env["CI"] || bubblewrap.status === 0 ? "bubblewrap" : "any";
}

/** A project in a temporary folder, with `test` and `job` on a dispatcher as in a server. */
export function openProject(
  source: ProjectSource,
  { env = process.env, level = strongestLevel() }: OpenOptions = {},
) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-tested-")));
  const root = join(base, "project");
  lay(source, root);
  // Killed runners leave their temporary files there.
  const TMPDIR = join(base, "tmp");
  mkdirSync(TMPDIR);
  const open = () => openServer(base, root, level, { ...env, TMPDIR, XDG_STATE_HOME: join(base, "state") });
  const server = open();
  const servers = [server];
  return {
    root,
    ...server,
    /** Another server on the same project, as after a restart. */
    another() {
      const next = open();
      servers.push(next);
      return next;
    },
    async close() {
      for (const { close } of servers) await close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

function lay(source: ProjectSource, root: string): void {
  if (typeof source === "string") {
    cpSync(source, root, { recursive: true, verbatimSymlinks: true });
    return;
  }
  for (const [path, text] of Object.entries(source)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

const ME: Caller = { id: "me", access: "admin" };

function openServer(
  base: string,
  root: string,
  level: NonNullable<OpenOptions["level"]>,
  env: NodeJS.ProcessEnv,
) {
  const confinement = createConfinement([root]);
  const state = openStateFolder({ roots: confinement.roots, env, warn: () => {} });
  const settings: SandboxSettings = {
    ...DEFAULT_SANDBOX,
    ...(level === "off" && { mode: "off" }),
    ...((level === "bubblewrap" || level === "unshare") && { require: level }),
  };
  const levels = level === "off" ? { levels: [] } : level === "any" ? {} : { levels: [level] };
  const sandbox = createSandbox({ roots: confinement.roots, settings, env, state, ...levels });
  const processes = createProcesses({ folder: state.folder("processes"), env, sandbox });
  const store = createJobStore(join(base, "jobs.sqlite"));
  const jobs = createJobs({ store, clock: systemClock, events: createJobEvents() });
  const bugs: unknown[] = [];
  const registry = createRegistry([
    testTool({ workspace: { confinement, state, processes }, env }),
    job(jobs),
  ]);
  const cursors = createCursors(state.secret());
  const dispatch = createDispatcher({ registry, cursors, jobs, onBug: (bug) => bugs.push(bug) });

  const call = async (name: string, input: object, caller = ME): Promise<Envelope> => {
    const [tool = "", action] = name.split(".");
    return (await dispatch({ tool, action, input }, { caller })).envelope;
  };
  /** Like a client: gets the job at once, then its outcome. */
  const run = async (input: object): Promise<Run> => {
    const started = await call("test.run", input);
    const { job_id = "" } = started.meta;
    // A refused call has no data, so a test that reads some fails.
    if (!started.ok)
      return { started: started.data, job_id, data: started.data, error: started.error } as never;
    for (;;) {
      const { data } = await call("job.poll", { job_id });
      // Both answers conform to their schemas.
      const { result } = data as { result?: Pick<Run, "data" | "error"> };
      if (result) return { started: started.data as RunResult, job_id, ...result };
    }
  };
  const close = async () => {
    await jobs.close();
    await processes.close();
    await sandbox.close();
    store.close();
  };
  return { registry, processes, call, run, close, bugs };
}

export interface Run {
  readonly started: RunResult;
  readonly job_id: string;
  readonly data: RunResult;
  readonly error: { readonly code: string; readonly message: string } | null;
}
