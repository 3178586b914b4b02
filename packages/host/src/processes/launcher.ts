import type { Exchange } from "../sandbox/exchange.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { StartOrder } from "./protocol.ts";

/** The part of a sandbox that starts commands. */
export type Launcher = Pick<Sandbox, "wrap" | "openExchange">;

export interface Launched {
  readonly order: StartOrder;
  /** Called when the command has ended; returns the protected entries that were moved out of the project meanwhile. */
  release(): readonly string[];
}

/** The order to start a command through the sandbox, if there is one. */
export async function toLaunched(
  sandbox: Launcher | undefined,
  order: StartOrder,
  exchange?: Exchange,
): Promise<Launched> {
  if (!sandbox) return { order, release: () => [] };
  const { argv, folder, env, pty } = order;
  const launch = await sandbox.wrap({ argv, folder, env, pty: pty !== null, exchange });
  const { release, launcher: launched, guardFile = null, program = launch.argv[0] } = launch;
  // A launcher changes into the command's folder by itself.
  const cwd = launched ? launch.folder : order.cwd;
  return {
    order: { ...order, argv: launch.argv, env: launch.env, program, cwd, launched, guardFile },
    release,
  };
}
