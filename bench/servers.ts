import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { layOutInstall } from "./install.ts";
import { type Command, type RpcServer, startServer } from "./json-rpc.ts";
import type { Tree } from "./tree.ts";

export interface Starters {
  startOctant(): Promise<RpcServer>;
  startNoOp(): Promise<RpcServer>;
  /** `octant serve` with these flags, which print where it serves. */
  startWire(flags: readonly string[]): ChildProcess;
}

/** Both servers under the Node that runs the bench; ours keeps its state and its compile cache in `folder`. */
export function createStarters({ root }: Tree, folder: string): Starters {
  const octant: Command = [process.execPath, layOutInstall(join(folder, "install")), "serve", "--root", root];
  const noOp: Command = [process.execPath, join(import.meta.dirname, "no-op-server.js")];
  const env = {
    ...process.env,
    XDG_STATE_HOME: join(folder, "state"),
    XDG_CACHE_HOME: join(folder, "cache"),
  };
  return {
    startOctant: () => startServer(octant, env),
    startNoOp: () => startServer(noOp, env),
    startWire: (flags) => {
      const [program, ...args] = octant;
      return spawn(program, [...args, ...flags], { env, stdio: ["ignore", "pipe", "inherit"] });
    },
  };
}
