import type { Pinned } from "../confinement.ts";
import type { Exchange } from "../sandbox/exchange.ts";
import type { LaunchedCommand, Sandbox } from "../sandbox/sandbox.ts";
import { hasProcessTable } from "./process-table.ts";
import { PROCESS_MARK, SERVER_MARK, type StartOrder, type TerminalSize } from "./protocol.ts";
import type { ProcessRecord, Released } from "./records.ts";

export interface ProcessSpec {
  readonly argv: readonly [string, ...string[]];
  /** Open until `start` has answered. */
  readonly cwd: Pick<Pinned, "fd" | "path">;
  /** Variables that the caller adds. */
  readonly env?: Readonly<Record<string, string>>;
  /** All of the input, or whether it can be given later; "closed" when absent. */
  readonly stdin?: Uint8Array | "open" | "closed";
  readonly pty?: TerminalSize;
  readonly timeoutMs?: number;
  readonly owner: string;
  /** Cancels the wait for a free slot. */
  readonly signal?: AbortSignal;
  /** From `openExchange`; this command alone sees it. */
  readonly exchange?: Exchange;
  /** The command as the caller wrote it. */
  readonly label: string;
}

/** The part of a sandbox that starts commands. */
export type Launcher = Pick<Sandbox, "wrap" | "openExchange">;

interface Surroundings {
  /** The variables that every command gets. */
  readonly base: Readonly<Record<string, string>>;
  readonly sandbox: Launcher | undefined;
  readonly stdin: StartOrder["stdin"];
  /** No other command is being started. */
  readonly isAlone: boolean;
}

const PLAIN_TERMINAL = "dumb";
const FULL_TERMINAL = "xterm-256color";

/**
 * The order to the supervisor that starts a command, through the sandbox if there is one. `release` is called when the
 * command has ended; it returns what the sandbox did to entries that the command wrote.
 */
export async function toStartOrder(
  spec: ProcessSpec,
  { proc_id, owner, command, server }: ProcessRecord["start"],
  { base, sandbox, stdin, isAlone }: Surroundings,
): Promise<{ readonly order: StartOrder; readonly release: () => Released }> {
  const { argv, cwd, pty, timeoutMs = null, exchange } = spec;
  const folder = cwd.path;
  const env = {
    ...base,
    TERM: pty ? FULL_TERMINAL : PLAIN_TERMINAL,
    PWD: folder,
    ...spec.env,
    [PROCESS_MARK]: proc_id,
    [SERVER_MARK]: server,
  };
  const launch: LaunchedCommand = sandbox
    ? await sandbox.wrap({ argv, folder, env, pty: pty !== undefined, exchange })
    : { argv, env, folder, launcher: false, release: () => [] };
  const { program = launch.argv[0], launcher: launched, guardFile = null } = launch;
  // By descriptor, so that it stays the folder that was checked. A launcher changes into it by itself.
  const byDescriptor = hasProcessTable() ? `/proc/${process.pid}/fd/${cwd.fd}` : folder;
  const order: StartOrder = {
    proc_id,
    owner,
    command,
    argv: launch.argv,
    name: argv[0],
    program,
    timeoutMs,
    pty: pty ?? null,
    launched,
    guardFile,
    folder,
    cwd: launched ? launch.folder : byDescriptor,
    env: launch.env,
    stdin,
    // The shell that waits in a prepared sandbox uses the standard input itself. Commands that start together need as
    // many sandboxes, so that preparing one would only take the processor from another.
    prepared: (stdin === "closed" && isAlone ? launch.prepared?.() : undefined) ?? null,
  };
  const release = () => ({ quarantined: launch.release(), stranded: launch.stranded?.() ?? [] });
  return { order, release };
}
