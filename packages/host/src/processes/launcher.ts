import type { Exchange } from "../sandbox/exchange.ts";
import type { StartOrder } from "./protocol.ts";

/** How a sandbox starts a command; SANDBOX_UNAVAILABLE when it cannot, EXEC_FAILED when there is no such program. */
export interface Launcher {
  wrap(command: {
    readonly argv: readonly [string, ...string[]];
    /** Where the command runs: the launcher changes into it. */
    readonly folder: string;
    /** The command's; the marks that it is found by among the machine's processes must reach it. */
    readonly env: Record<string, string>;
    readonly pty: boolean;
    readonly exchange?: Exchange | undefined;
  }): Promise<{
    readonly argv: readonly [string, ...string[]];
    /** Where `argv[0]` was found, when that is known. */
    readonly program?: string | undefined;
    readonly env: Readonly<Record<string, string>>;
    /** Where the launcher itself runs; `/` when absent. */
    readonly folder?: string | undefined;
    /** False: this is the command itself, to be started as if there were no sandbox. */
    readonly launcher?: boolean | undefined;
    readonly guardFile?: string | undefined;
    /** Called when the command has ended; returns the protected entries that were moved out of the project meanwhile. */
    readonly release?: (() => readonly string[]) | undefined;
  }>;
  openExchange(): Promise<Exchange>;
}

export interface Launched {
  readonly order: StartOrder;
  release(): readonly string[];
}

/** The order to start the launcher, which starts the command. */
export async function toLaunched(
  sandbox: Launcher | undefined,
  order: StartOrder,
  exchange?: Exchange,
): Promise<Launched> {
  if (!sandbox) return { order, release: () => [] };
  const { argv, folder, env, pty } = order;
  const launch = await sandbox.wrap({ argv, folder, env: { ...env }, pty: pty !== null, exchange });
  const { release = () => [], guardFile = null } = launch;
  if (launch.launcher === false)
    return { order: { ...order, program: launch.program ?? order.program, env: launch.env }, release };
  const { argv: launcher, env: itsEnv, folder: itsFolder = "/" } = launch;
  const place = { program: launcher[0], argv: launcher, env: itsEnv, cwd: itsFolder, launched: true };
  return { order: { ...order, ...place, guardFile }, release };
}
