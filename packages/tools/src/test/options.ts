import type { Confinement, Processes, StateFolder } from "@octant/host";

/** The dependencies of `test`; a Workspace has all of them. */
export interface TestOptions {
  readonly workspace: {
    readonly confinement: Confinement;
    readonly state: StateFolder;
    readonly processes: Processes;
  };
  /** The server's environment: programs are found on its PATH. */
  readonly env: NodeJS.ProcessEnv;
}
