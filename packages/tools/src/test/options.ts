import type { Confinement, Processes, StateFolder } from "@octant/host";

/** What `test` stands on; a Workspace has all of it. */
export interface TestOptions {
  readonly workspace: {
    readonly confinement: Confinement;
    readonly state: StateFolder;
    readonly processes: Processes;
  };
  /** The server's: programs are looked for on its PATH. */
  readonly env: NodeJS.ProcessEnv;
}
