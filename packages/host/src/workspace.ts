import { isAbsolute, join } from "node:path";
import { createJobEvents, createJobs, type Jobs } from "@octant/core";
import { type Blobs, createBlobs } from "./blobs/blobs.ts";
import { type Checkpoints, createCheckpoints } from "./checkpoints/checkpoints.ts";
import { type Confinement, createConfinement } from "./confinement.ts";
import { createEdits, type Edits } from "./edits/edits.ts";
import { createFiles, type Files, type RefOpener } from "./files/files.ts";
import { systemClock } from "./jobs/clock.ts";
import { createJobStore } from "./jobs/job-store.ts";
import type { Path } from "./path.ts";
import { createProcesses, type Processes } from "./processes/index.ts";
import { createSandbox, DEFAULT_SANDBOX, type Sandbox, type SandboxSettings } from "./sandbox/index.ts";
import { createRipgrep } from "./search/ripgrep.ts";
import { createIndexedRipgrep, type IndexedRipgrep } from "./search/trigrams/indexed-ripgrep.ts";
import { openStateFolder, type StateFolder } from "./state.ts";
import { createProjectStore, type ProjectStore } from "./store/project-store.ts";
import { cacheFolder } from "./user-folders.ts";

/** The folders that Octant works in, and the services on top of them. */
export interface Workspace {
  readonly confinement: Confinement;
  readonly state: StateFolder;
  readonly blobs: Blobs;
  /** Content, artifacts, annotations and the graph. */
  readonly store: ProjectStore;
  readonly files: Files;
  readonly edits: Edits;
  readonly checkpoints: Checkpoints;
  readonly ripgrep: IndexedRipgrep;
  readonly jobs: Jobs;
  readonly sandbox: Sandbox;
  readonly processes: Processes;
  close(): Promise<void>;
}

export interface WorkspaceOptions {
  readonly roots: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The resources that commands and files may reach; the defaults suit normal work. */
  readonly sandbox?: SandboxSettings;
  /** Receives messages for the person, such as about a state folder that does not survive a reboot. */
  warn(message: string): void;
}

/** Puts the parts together, and sets right what a server that died here left half done. */
export function createWorkspace(options: WorkspaceOptions): Workspace {
  const { roots, env, warn, sandbox: settings = DEFAULT_SANDBOX } = options;
  const confinement = createConfinement(roots);
  confinement.allow(allowedFolders(confinement.roots, settings), settings.mode === "allowlist");
  const state = openStateFolder({ roots: confinement.roots, env, warn });
  // A root such as the home folder contains the state of other workspaces, and Node's compile cache for us.
  confinement.exclude(state.base);
  confinement.exclude(cacheFolder(env));
  const blobs = createBlobs(state.folder("blobs"));
  const edits = createEdits({ confinement, blobs, state, warn });
  const checkpoints = createCheckpoints({ confinement, blobs, edits, state, env, warn });
  const store = createJobStore(join(state.folder("jobs"), "jobs.sqlite"), blobs, warn);
  const jobs = createJobs({ store, clock: systemClock, events: createJobEvents(Date.now) });
  const sandbox = createSandbox({ roots: confinement.roots, settings, env, state, warn });
  const limits = { memoryBytes: settings.memory_bytes, maxProcesses: settings.max_processes };
  const processes = createProcesses({ folder: state.folder("processes"), env, sandbox, limits });
  const ripgrep = createIndexedRipgrep({ confinement, ripgrep: createRipgrep({ confinement }) });
  const projectStore = createProjectStore(state);
  const openContent: RefOpener = (ref) => {
    const hash = ref.slice("cas:".length);
    return { hash, ...projectStore.content.open(hash) };
  };
  const refs = { stdout: processes.openRef, stderr: processes.openRef, cas: openContent };
  // Every edit looks for remains first, so nothing has to wait for this one.
  edits.recover().catch((cause) => warn(`half-done edits could not be set right yet: ${cause}`));
  return {
    confinement,
    state,
    blobs,
    store: projectStore,
    files: createFiles({ confinement, blobs, env, refs }),
    edits,
    checkpoints,
    ripgrep,
    jobs,
    sandbox,
    processes,
    async close() {
      // Together: a job waits for its process, and that one need not be asked politely any more.
      await Promise.all([jobs.close(), processes.close(), ripgrep.close()]);
      await sandbox.close();
      await checkpoints.close();
      await edits.close();
      store.close();
      projectStore.close();
      blobs.close();
    },
  };
}

/** Files obey the settings of the sandbox as commands do. */
const allowedFolders = (roots: readonly Path[], { mode, allowed_paths }: SandboxSettings): Path[] =>
  mode === "off" ? [] : allowed_paths.map((path) => (isAbsolute(path) ? path : join(roots[0] ?? "/", path)));
