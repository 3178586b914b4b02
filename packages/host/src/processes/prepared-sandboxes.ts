import type { ChildProcess } from "node:child_process";
import { closeSync, rmSync } from "node:fs";
import { attempt } from "@octant/core";
import { startLaunched } from "../programs/start-program.ts";
import type { PreparedLaunch } from "../sandbox/sandbox.ts";
import type { Pipe, Pipes } from "./pipes.ts";
import { SERVER_MARK } from "./protocol.ts";
import { after } from "./timer.ts";

/** Commands of a mode with a network and of one without, say; each is three small processes. */
const MAX_WAITING = 2;
/** Each command that uses one has the next prepared, so this is the time without commands. */
const KEPT_MS = 60_000;
/** A short command has ended by then, and does not share the processor with the preparation. */
const PREPARE_AFTER_MS = 20;

/** A sandbox that waits for its command. */
export interface WaitingSandbox {
  readonly child: ChildProcess;
  readonly stdout: Pipe;
  readonly stderr: Pipe;
}

/** Sandboxes without a command yet, one for each plan that was used of late. Each runs one command. */
export class PreparedSandboxes {
  readonly #pipes: Pipes;
  readonly #server: string;
  readonly #waiting = new Map<string, WaitingSandbox>();
  readonly #preparing = new Set<string>();
  #isClosed = false;
  #stopKeeping = () => {};

  constructor(pipes: Pipes, server: string) {
    this.#pipes = pipes;
    this.#server = server;
  }

  /** The one that waits, with the order sent to it; undefined when there is none. */
  take({ key, order, unused }: PreparedLaunch): WaitingSandbox | undefined {
    const found = this.#waiting.get(key);
    this.#waiting.delete(key);
    if (!found || !isRunning(found.child)) return undefined;
    // It may end before it has read all; its exit is reported.
    found.child.stdin?.on("error", () => {});
    found.child.stdin?.end(order);
    if (unused !== null) attempt(() => rmSync(unused));
    return found;
  }

  /** Prepares the next one when the command that asks for it has ended, or after a short while. */
  prepareNext(launch: PreparedLaunch, ended: Promise<unknown>): void {
    // Once: the key states what was there when the command was started.
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = after(PREPARE_AFTER_MS, resolve);
    const prepare = () => {
      cancel();
      return this.#prepare(launch);
    };
    // Without one, such as when there are too many processes, the next command is started the other way.
    Promise.race([promise, ended])
      .then(prepare)
      .catch(() => {});
  }

  async #prepare({ key, argv }: PreparedLaunch): Promise<void> {
    if (this.#isClosed || this.#waiting.has(key) || this.#preparing.has(key)) return;
    this.#preparing.add(key);
    const [stdout, stderr] = [await this.#pipes.take(), await this.#pipes.take()];
    this.#preparing.delete(key);
    if (!stdout || !stderr) return;
    if (this.#isClosed) return;
    const child = this.#start(argv, [stdout.writeEnd, stderr.writeEnd]);
    const waiting = { child, stdout, stderr };
    // One that cannot be started, or ends by itself, is not used; the command is then started the other way.
    child.on("error", () => this.#drop(key, waiting));
    child.once("exit", () => this.#drop(key, waiting));
    this.#waiting.set(key, waiting);
    this.#keep();
    for (const [oldest, other] of this.#waiting)
      if (this.#waiting.size > MAX_WAITING) this.#drop(oldest, other);
  }

  #start([program, ...args]: PreparedLaunch["argv"], ends: readonly number[]): ChildProcess {
    const env = { [SERVER_MARK]: this.#server };
    try {
      return startLaunched(program, args, { cwd: "/", env, detached: true, stdio: ["pipe", ...ends] });
    } finally {
      for (const end of ends) closeSync(end);
    }
  }

  #keep(): void {
    this.#stopKeeping();
    this.#stopKeeping = after(KEPT_MS, () => this.#dropAll());
  }

  #dropAll(): void {
    for (const [key, waiting] of this.#waiting) this.#drop(key, waiting);
  }

  #drop(key: string, waiting: WaitingSandbox): void {
    if (this.#waiting.get(key) !== waiting) return;
    this.#waiting.delete(key);
    const { pid } = waiting.child;
    if (pid !== undefined && isRunning(waiting.child)) attempt(() => process.kill(-pid, "SIGKILL"));
    release(waiting);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopKeeping();
    this.#dropAll();
  }
}

const isRunning = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null;

/** Ending processes may still have the pipes open, so they are not given back. */
function release(pipes: Pick<WaitingSandbox, "stdout" | "stderr">): void {
  for (const { name, readEnd } of [pipes.stdout, pipes.stderr]) {
    closeSync(readEnd);
    rmSync(name, { force: true });
  }
}
