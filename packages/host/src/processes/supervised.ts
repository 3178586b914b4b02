import { constants } from "node:os";
import { attempt } from "@octant/core";
import { type Child, type ChildEvents, type ChildTools, signalName, startChild } from "./child.ts";
import { endTree, signalTree, type Tree } from "./process-tree.ts";
import {
  type EndRecord,
  type Hello,
  type LimitName,
  PROCESS_MARK,
  type Started,
  type StartOrder,
  type StreamName,
  type TerminalSize,
} from "./protocol.ts";
import { startPtyChild } from "./pty-child.ts";
import { addEnd, addRecord, spoolPath } from "./records.ts";
import { SpoolWriter } from "./spool.ts";
import { toStartError, toStoreError } from "./start-errors.ts";
import { after } from "./timer.ts";

/** How long the output may stay open after the exit before the exit is reported anyway. */
const DRAIN_MS = 100;
/** A sandbox ends everything in it, but on a busy machine its last process may hold the output for a while. */
const LAUNCHER_DRAIN_MS = 5_000;
/** How long a process has to end by itself when it is killed or its time is up. */
export const GRACE_MS = 2_000;
/** Launchers and shells report signal N as exit code 128 + N. */
const SIGNAL_EXIT = 128;

/** A process of the supervisor. */
export class Supervised implements ChildEvents {
  /** Resolves when the process has exited and its output is complete or held open by others. */
  readonly ended: Promise<EndRecord>;
  readonly #end = Promise.withResolvers<EndRecord>();
  readonly #order: StartOrder;
  readonly #hello: Hello;
  readonly #tools: ChildTools;
  readonly #onOutput: () => void;
  readonly #spools: Readonly<Record<StreamName, SpoolWriter>>;
  #child!: Child;
  #reason: "killed" | "timed_out" | undefined;
  #sent: NodeJS.Signals | undefined;
  #outcome: Outcome | undefined;
  #limit: LimitName | null = null;
  #isDrained = false;
  #inputClosed: boolean;
  #stopTimer = () => {};
  #stopDraining = () => {};

  constructor(order: StartOrder, hello: Hello, tools: ChildTools, onOutput: () => void) {
    this.#order = order;
    this.#hello = hello;
    this.#tools = tools;
    this.#onOutput = onOutput;
    const toSpool = (name: StreamName) =>
      new SpoolWriter(spoolPath(hello.folder, order.proc_id, name), hello.caps);
    this.#spools = { stdout: toSpool("stdout"), stderr: toSpool("stderr") };
    this.#inputClosed = order.stdin !== "open" && order.pty === null;
    this.ended = this.#end.promise;
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Throws why it cannot be started, or that the disk takes no record of it: then it was killed again. */
  async start(): Promise<Started> {
    const { proc_id, owner, command, pty, timeoutMs } = this.#order;
    const { folder, server, caps } = this.#hello;
    try {
      this.#child = pty
        ? await startPtyChild(this.#order, pty, this.#tools, this)
        : await startChild(this.#order, this.#tools, this);
    } catch (cause) {
      this.#tools.groups.leave(proc_id);
      throw toStartError(codeOf(cause), this.#order, this.#hello);
    }
    const started = { pid: this.pid, started_at: Date.now() };
    try {
      // A process without a record could not be found again.
      addRecord(folder, { proc_id, owner, command, ...started, pty: pty !== null, server, caps });
    } catch (cause) {
      await this.#endTree("killed", "SIGKILL");
      throw toStoreError(codeOf(cause));
    }
    if (timeoutMs !== null) this.#stopTimer = after(timeoutMs, () => this.#endTree("timed_out", "SIGTERM"));
    return started;
  }

  output(stream: StreamName, bytes: Buffer): void {
    this.#spools[stream].write(bytes);
    this.#onOutput();
  }

  exit(code: number | null, signal: string | null): void {
    this.#stopTimer();
    this.#outcome = { code, signal: signal ?? signalOf(this.#order, code), at: Date.now() };
    if (this.#isDrained) this.#report(this.#outcome);
    else this.#waitForOutput(this.#outcome, 0);
  }

  drained(): void {
    this.#stopDraining();
    this.#isDrained = true;
    for (const spool of Object.values(this.#spools)) spool.close();
    if (this.#outcome) this.#report(this.#outcome);
  }

  /** A late timer may fire before the output event, so the pipes are read before they count as open. */
  #waitForOutput(outcome: Outcome, waitedMs: number): void {
    if (waitedMs > 0 && this.#child.readOutput?.()) return;
    if (waitedMs >= (this.#order.launched ? LAUNCHER_DRAIN_MS : DRAIN_MS)) this.#report(outcome);
    else this.#stopDraining = after(DRAIN_MS, () => this.#waitForOutput(outcome, waitedMs + DRAIN_MS));
  }

  /** Once at the exit, and again when output that was held open has ended. */
  #report(outcome: Outcome): void {
    const { code, signal, at } = outcome;
    const { groups } = this.#tools;
    const { proc_id } = this.#order;
    const { stdout, stderr } = this.#spools;
    if (groups.ranOutOfMemory(proc_id)) this.#limit = "memory";
    const isKilled =
      (signal !== null && signal === this.#sent) || (this.#limit !== null && diedBySigkill(outcome));
    const end: EndRecord = {
      status: this.#reason ?? (isKilled ? "killed" : "exited"),
      exit_code: code,
      signal,
      ended_at: at,
      output_open: !this.#isDrained,
      output_failure: stdout.failure ?? stderr.failure,
      limit: this.#limit,
      printed: { stdout: stdout.total, stderr: stderr.total },
    };
    this.#stopDraining();
    groups.leave(proc_id);
    // On a full disk a later server takes the process for killed.
    attempt(() => addEnd(this.#hello.folder, proc_id, end));
    this.#end.resolve(end);
  }

  /** From now on its end counts as killed. */
  markKilled(): void {
    this.#reason ??= "killed";
  }

  /** Bytes of input that it has not taken yet; undefined when its input is closed. */
  pendingInput(): number | undefined {
    return this.#inputClosed ? undefined : this.#child.input?.pending();
  }

  input(bytes: Buffer | "end"): void {
    // A terminal stays open: its end of input is a key like others.
    if (bytes === "end") this.#inputClosed = this.#order.pty === null;
    if (bytes === "end") this.#child.input?.end();
    else this.#child.input?.write(bytes);
  }

  /** False when it has no terminal. */
  resize(size: TerminalSize): boolean {
    this.#child.resize?.(size);
    return this.#child.resize !== undefined;
  }

  /** Without a signal: SIGTERM, then SIGKILL after a grace period; resolves when all processes have exited. */
  async kill(signal: NodeJS.Signals | null): Promise<void> {
    if (signal === null || signal === "SIGKILL" || signal === "SIGTERM")
      return void (await this.#endTree("killed", signal ?? "SIGTERM"));
    this.#sent = signal;
    signalTree(this.#tree(), signal);
  }

  #endTree(why: "killed" | "timed_out", signal: NodeJS.Signals): Promise<unknown> {
    if (!this.#outcome) this.#reason ??= why;
    return endTree(this.#tree(), { signal, graceMs: GRACE_MS });
  }

  /** After its exit the pid may be reused; its descendants carry the mark. */
  #tree(): Tree {
    return { leaders: this.#outcome ? [] : [this.pid], mark: `${PROCESS_MARK}=${this.#order.proc_id}` };
  }
}

interface Outcome {
  readonly code: number | null;
  readonly signal: string | null;
  readonly at: number;
}

const signalOf = ({ launched }: StartOrder, code: number | null): string | null =>
  launched && code !== null && code > SIGNAL_EXIT ? (signalName(code - SIGNAL_EXIT) ?? null) : null;

/** Itself, or the last that its shell waited for. */
const diedBySigkill = ({ code, signal }: Outcome): boolean =>
  signal === "SIGKILL" || code === SIGNAL_EXIT + constants.signals.SIGKILL;

/** Such as ENOENT, of the system and of modules. */
const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
