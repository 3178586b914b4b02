import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { thisProcess } from "../jobs/process-identity.ts";
import type { Path } from "../path.ts";
import { makeServerFolder, removeServerFolder } from "../processes/leftovers.ts";
import { endFamily, familyOf, listRows } from "../processes/process-tree.ts";
import { SERVER_MARK } from "../processes/protocol.ts";
import { startLaunched } from "../programs/start-program.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { StateFolder } from "../state.ts";

interface ServerCommand {
  readonly argv: readonly [string, ...string[]];
  readonly root: Path;
  readonly env: Readonly<Record<string, string>>;
  readonly sandbox: Pick<Sandbox, "wrap">;
  /** Narrows only. */
  readonly network?: "off";
  readonly state: Pick<StateFolder, "folder">;
}

/** A program that speaks over its standard streams. It does not outlive us. */
export interface ServerProcess {
  readonly pid: number;
  readonly input: Writable;
  readonly output: Readable;
  /** It runs in its own PID namespace. */
  readonly isApart: boolean;
  /** Resolves with how it ended. */
  readonly exited: Promise<string>;
  /** The tail of its stderr. */
  stderrTail(): string;
  /** Records its process family; the result kills them all and resolves when they have exited. */
  ending(): () => Promise<void>;
}

const MAX_STDERR_CHARS = 2_000;
const PAGE_BYTES = 4_096;

const SERVER_ID_BYTES = 8;

/**
 * Starts a program that speaks over standard streams; if we are killed, the next server kills its leftovers. EXEC_FAILED
 * when there is no such program.
 */
export async function startServer(command: ServerCommand): Promise<ServerProcess> {
  // Each has its own mark, so that its leftovers are found without touching others.
  const mark = `${thisProcess()}:${randomBytes(SERVER_ID_BYTES).toString("hex")}`;
  const folder = command.state.folder("processes");
  makeServerFolder(folder, mark);
  try {
    const started = await launch(command, mark);
    void started.exited.then(() => removeServerFolder(folder, mark));
    return started;
  } catch (cause) {
    removeServerFolder(folder, mark);
    throw cause;
  }
}

async function launch(command: ServerCommand, mark: string): Promise<ServerProcess> {
  const { argv, root, sandbox, network } = command;
  const env = { ...command.env, [SERVER_MARK]: mark };
  const launched = await sandbox.wrap({ argv, folder: root, env, pty: false, ...(network && { network }) });
  const [program, ...args] = launched.argv;
  // Its own process group: a signal reaches all its children.
  const child = startLaunched(program, args, {
    cwd: launched.folder,
    env: launched.env,
    detached: true,
    stdio: "pipe",
  });
  let stderrTail = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderrTail = (stderrTail + text).slice(-MAX_STDERR_CHARS);
  });
  // A server that exits may leave bytes unread; the exit event covers it.
  child.stdin.on("error", () => {});
  const exited = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ? `ended by ${signal}` : `exit code ${code}`));
    child.once("error", (cause) => resolve(`could not be started: ${cause.message}`));
  });
  void exited.then(launched.release);
  if (child.pid === undefined) throw (await once(child, "error"))[0];
  const { pid } = child;
  return {
    pid,
    input: child.stdin,
    output: child.stdout,
    isApart: launched.launcher,
    exited,
    stderrTail: () => stderrTail,
    ending: () => endFamily(pid, mark, exited),
  };
}

/** Resident bytes of a process and its descendants; 0 where unknown. */
export const residentBytesOf = (pid: number): number =>
  familyOf(pid, listRows()).reduce((sum, { residentPages }) => sum + residentPages, 0) * PAGE_BYTES;
