import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { openSocketFolder } from "@octant/host";
import { layOutInstall } from "./install.ts";
import { type Command, type RpcServer, startServer } from "./json-rpc.ts";
import type { Tree } from "./tree.ts";

export interface Starters {
  /** On the tree unless another root is given. */
  startOctant(root?: string, ...flags: string[]): Promise<RpcServer>;
  startNoOp(): Promise<RpcServer>;
  /** `octant serve` with these flags, which print where it serves. */
  startWire(flags: readonly string[]): ChildProcess;
  /** The folder of the servers' control sockets. */
  readonly sockets: string;
}

/** Both servers under the Node that runs the bench; ours stores its state and its compile cache in `folder`. */
export function createStarters({ root }: Tree, folder: string): Starters {
  const launcher = layOutInstall(join(folder, "install"));
  const octant = (served: string, flags: readonly string[]): Command => [
    process.execPath,
    launcher,
    "serve",
    "--root",
    served,
    ...flags,
  ];
  const noOp: Command = [process.execPath, join(import.meta.dirname, "no-op-server.js")];
  const env = {
    ...process.env,
    XDG_STATE_HOME: join(folder, "state"),
    XDG_CACHE_HOME: join(folder, "cache"),
  };
  return {
    sockets: openSocketFolder(env),
    startOctant: (served = root, ...flags) => startServer(octant(served, flags), env),
    startNoOp: () => startServer(noOp, env),
    startWire: (flags) => {
      const [program, ...args] = octant(root, flags);
      return spawn(program, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    },
  };
}
