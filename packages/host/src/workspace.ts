import { isAbsolute, join } from "node:path";
import { createJobEvents, createJobs } from "@octant/core";
import { type Blobs, createBlobs } from "./blobs/blobs.ts";
import { createCheckpoints } from "./checkpoints/checkpoints.ts";
import { createConfinement } from "./confinement.ts";
import { createDenials } from "./denials.ts";
import { createEdits } from "./edits/edits.ts";
import { createFiles, type RefOpener } from "./files/files.ts";
import { systemClock } from "./jobs/clock.ts";
import { createJobStore } from "./jobs/job-store.ts";
import type { Path } from "./path.ts";
import { createProcesses } from "./processes/processes.ts";
import { createSandbox } from "./sandbox/create-sandbox.ts";
import { secretPlaces } from "./sandbox/homes.ts";
import { DEFAULT_SANDBOX, type SandboxSettings } from "./sandbox/settings.ts";
import { createRipgrep } from "./search/ripgrep.ts";
import { createIndexedRipgrep } from "./search/trigrams/indexed-ripgrep.ts";
import { openStateFolder } from "./state.ts";
import { createProjectStores } from "./store/project-store.ts";
import { cacheFolder } from "./user-folders.ts";

export interface WorkspaceOptions {
  readonly roots: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The resources that commands and files may reach; the defaults suit normal work. */
  readonly sandbox?: SandboxSettings;
  /** Where replaced contents are stored; in the state folder when absent. Its owner closes it. */
  readonly blobs?: Blobs | undefined;
  /** Receives messages for the person, such as about a state folder that does not survive a reboot. */
  warn(message: string): void;
}

/** An interface, so that the types of other packages name it instead of spelling it out. */
export interface Workspace extends ReturnType<typeof createWorkspace> {}

/**
 * The folders that Octant works in, and the services on top of them. Starting it recovers the unfinished work of a
 * server that died here.
 */
export function createWorkspace(options: WorkspaceOptions) {
  const { roots, env, warn, sandbox: settings = DEFAULT_SANDBOX } = options;
  const denials = createDenials();
  const confinement = createConfinement(roots, undefined, denials);
  confinement.allow(allowedFolders(confinement.roots, settings), settings.mode === "allowlist");
  const state = openStateFolder({ roots: confinement.roots, env, warn });
  // A root such as the home folder contains the state of other workspaces, and Node's compile cache for us.
  confinement.exclude(state.base);
  confinement.exclude(cacheFolder(env));
  if (settings.mode !== "off") confinement.hide(secretPlaces(env));
  const scratch = state.folder("blobs");
  const blobs = options.blobs ?? createBlobs(scratch);
  const edits = createEdits({ confinement, blobs, state, warn });
  const checkpoints = createCheckpoints({ confinement, blobs, edits, state, env, warn });
  const store = createJobStore(join(state.folder("jobs"), "jobs.sqlite"), warn);
  const jobs = createJobs({ store, clock: systemClock, events: createJobEvents(Date.now) });
  const sandbox = createSandbox({ roots: confinement.roots, settings, env, state, denials, warn });
  const limits = { memoryBytes: settings.memory_bytes, maxProcesses: settings.max_processes };
  const processes = createProcesses({ folder: state.folder("processes"), env, sandbox, limits });
  const ripgrep = createIndexedRipgrep({ confinement, ripgrep: createRipgrep({ confinement }) });
  const stores = createProjectStores(state);
  const openContent: RefOpener = (ref, caller) => {
    const hash = ref.slice("cas:".length);
    return { hash, ...stores.of(caller).content.open(hash) };
  };
  const refs = { stdout: processes.openRef, stderr: processes.openRef, cas: openContent };
  // Every edit starts with its own recovery, so nothing has to wait for this one.
  edits.recover().catch((cause) => warn(`unfinished edits could not be recovered yet: ${cause}`));
  return {
    confinement,
    denials,
    state,
    blobs,
    /** Content, artifacts, annotations and the graph, as a caller sees them. */
    storeOf: stores.of,
    /** Documents of single callers. */
    records: stores.records,
    files: createFiles({ confinement, blobs, scratch, env, refs }),
    edits,
    checkpoints,
    ripgrep,
    jobs,
    sandbox,
    processes,
    async close(): Promise<void> {
      // Together: a job waits for its process, which need not be ended gracefully any more.
      await Promise.all([jobs.close(), processes.close(), ripgrep.close()]);
      await sandbox.close();
      await checkpoints.close();
      await edits.close();
      store.close();
      stores.close();
      if (!options.blobs) blobs.close();
    },
  };
}

/** Files obey the settings of the sandbox as commands do. */
const allowedFolders = (roots: readonly Path[], { mode, allowed_paths }: SandboxSettings): Path[] =>
  mode === "off" ? [] : allowed_paths.map((path) => (isAbsolute(path) ? path : join(roots[0] ?? "/", path)));
