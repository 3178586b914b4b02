import { AsyncLocalStorage } from "node:async_hooks";
import { ToolError } from "@octant/core";
import { type Path, pathToUri } from "./path.ts";

/** The denials of permission rules for a call. Each answer is the reason, or undefined. */
export interface Denied {
  file(path: Path): string | undefined;
  host(authority: string): string | undefined;
  /** The files and folders that programs of the call must not see. */
  masks(): Promise<readonly Path[]>;
}

/** How the programs of a call are confined, other than by the settings. */
export interface ProgramLimits {
  /** Nothing of the machine but the loopback device of their own. */
  readonly network?: "off";
  /** No mount can be written, and of the person nothing but the workspace and settings of tools can be read. */
  readonly readOnly?: true;
  /** Not at all: a person has allowed it for this call. */
  readonly outside?: true;
}

export type Denials = ReturnType<typeof createDenials>;

/**
 * Carries the denials of a call to everything that the call does here: files are checked when they are opened, hosts
 * at each hop, and the sandbox masks files. So a tool that reaches a file or a host in a new way cannot forget them.
 */
export function createDenials() {
  const calls = new AsyncLocalStorage<Denied | undefined>();
  const programs = new AsyncLocalStorage<ProgramLimits>();
  const fileDenied = (path: Path) => calls.getStore()?.file(path);
  return {
    during: <T>(denied: Denied | undefined, run: () => T): T => calls.run(denied, run),
    limiting: <T>(limits: ProgramLimits, run: () => T): T => programs.run(limits, run),
    programLimits: (): ProgramLimits => programs.getStore() ?? {},
    /** For work on behalf of all calls, such as indexing and recovery. */
    without: <T>(run: () => T): T => calls.run(undefined, run),
    /** Whether rules deny anything to the running call. */
    isRestricted: () => calls.getStore() !== undefined,
    fileDenied,
    checkFile(path: Path): void {
      const reason = fileDenied(path);
      if (reason === undefined) return;
      const message = `${pathToUri(path)} is denied: ${reason}`;
      throw new ToolError("PERMISSION_DENIED", message, { by: "permission", reason });
    },
    hostDenied: (authority: string) => calls.getStore()?.host(authority),
    masks: async (): Promise<readonly Path[]> => (await calls.getStore()?.masks()) ?? [],
  };
}
