import { constants } from "node:os";
import { type Child, type ChildEvents, type ChildTools, startChild } from "./child.ts";
import { endTree, signalTree, type Tree } from "./process-tree.ts";
import {
  type EndRecord,
  type Hello,
  type LimitName,
  PROCESS_MARK,
  type Started,
  type StartOrder,
  type StartRecord,
  type TerminalSize,
} from "./protocol.ts";
import { startPtyChild } from "./pty-child.ts";
import { signalName } from "./signal-name.ts";
import { createStoredOutput } from "./stored-output.ts";
import { after } from "./timer.ts";

/** A process in the hands of the supervisor. */
export interface Supervised {
  readonly started: Started;
  /** Resolves when the process has exited and its output is complete or held open by others. */
  readonly ended: Promise<EndRecord>;
  /** Writes the record of a process that did not exit at once; without disk space, kills it and rejects with NotStored. */
  record(): Promise<void>;
  /** From now on its end counts as killed. */
  markKilled(): void;
  /** Bytes of input that it has not taken yet; undefined when its input is closed. */
  pendingInput(): number | undefined;
  input(bytes: Buffer | "end"): void;
  /** False when it has no terminal. */
  resize(size: TerminalSize): boolean;
  /** Without a signal: SIGTERM, then SIGKILL after a grace period; resolves when all processes have exited. */
  kill(signal: NodeJS.Signals | null): Promise<void>;
}

/** How long the output may stay open after the exit before the exit is reported anyway. */
const DRAIN_MS = 100;
/** A sandbox ends everything in it, but on a busy machine its last process may hold the output for a while. */
const LAUNCHER_DRAIN_MS = 5_000;
/** How long a process has to end by itself when it is killed or its time is up. */
export const GRACE_MS = 2_000;
/** Launchers and shells report signal N as exit code 128 + N. */
const SIGNAL_EXIT = 128;

/** Throws the system's error when the process cannot be started. */
export async function supervise(
  order: StartOrder,
  hello: Hello,
  tools: ChildTools,
  onOutput: () => void,
): Promise<Supervised> {
  const { proc_id, owner, command } = order;
  const storedOutput = createStoredOutput(proc_id, hello);
  let reason: "killed" | "timed_out" | undefined;
  let sent: NodeJS.Signals | undefined;
  let outcome: Outcome | undefined;
  let limit: LimitName | null = null;
  let drained = false;
  let complete = false;
  let inputClosed = order.stdin !== "open" && order.pty === null;
  let stopTimer = () => {};
  let stopDraining = () => {};
  const ended = Promise.withResolvers<EndRecord>();

  const report = () => {
    if (!outcome) return;
    const { code, signal, at } = outcome;
    if (tools.groups.ranOutOfMemory(proc_id)) limit = "memory";
    const isKilled = (signal !== null && signal === sent) || (limit !== null && diedBySigkill(outcome));
    const end: EndRecord = {
      status: reason ?? (isKilled ? "killed" : "exited"),
      exit_code: code,
      signal,
      ended_at: at,
      output_open: !drained,
      output_failure: storedOutput.failure(),
      limit,
      printed: storedOutput.printed(),
    };
    stopDraining();
    tools.groups.leave(proc_id);
    storedOutput.recordEnd(toStartRecord(), end);
    ended.resolve(end);
  };
  /** A late timer may fire before the output event, so the pipes are read before they count as open. */
  const waitForOutput = (waitedMs: number) => {
    if (waitedMs > 0 && child.readOutput?.()) return;
    if (waitedMs >= (order.launched ? LAUNCHER_DRAIN_MS : DRAIN_MS)) return report();
    stopDraining = after(DRAIN_MS, () => waitForOutput(waitedMs + DRAIN_MS));
  };
  const events: ChildEvents = {
    output(stream, bytes) {
      storedOutput.write(stream, bytes);
      onOutput();
    },
    exit(code, signal) {
      stopTimer();
      outcome = { code, signal: signal ?? signalOf(order, code), at: Date.now() };
      if (complete) return report();
      if (!drained) waitForOutput(0);
    },
    async drained() {
      stopDraining();
      drained = true;
      await storedOutput.close();
      complete = true;
      if (outcome) report();
    },
  };

  const child = await start(order, tools, events);
  const { pid } = child;
  const started: Started = { pid, started_at: Date.now() };
  const toStartRecord = (): StartRecord => {
    const { server, caps } = hello;
    return { proc_id, owner, command, ...started, pty: order.pty !== null, server, caps };
  };

  // After its exit the pid may be reused; its descendants carry the mark.
  const tree = (): Tree => ({ leaders: outcome ? [] : [pid], mark: `${PROCESS_MARK}=${proc_id}` });
  const end = (why: "killed" | "timed_out", signal: NodeJS.Signals) => {
    if (!outcome) reason ??= why;
    return endTree(tree(), { signal, graceMs: GRACE_MS });
  };
  if (order.timeoutMs !== null) stopTimer = after(order.timeoutMs, () => end("timed_out", "SIGTERM"));

  return {
    started,
    ended: ended.promise,
    async record() {
      try {
        storedOutput.recordStart(toStartRecord());
      } catch (cause) {
        await end("killed", "SIGKILL");
        throw new NotStored(cause);
      }
    },
    markKilled: () => {
      reason ??= "killed";
    },
    pendingInput: () => (inputClosed ? undefined : child.input?.pending()),
    input(bytes) {
      if (bytes !== "end") return child.input?.write(bytes);
      // A terminal stays open: its end of input is a key like others.
      inputClosed = order.pty === null;
      child.input?.end();
    },
    resize(size) {
      child.resize?.(size);
      return child.resize !== undefined;
    },
    async kill(signal) {
      if (signal === null || signal === "SIGKILL" || signal === "SIGTERM") {
        await end("killed", signal ?? "SIGTERM");
        return;
      }
      sent = signal;
      signalTree(tree(), signal);
    },
  };
}

async function start(order: StartOrder, tools: ChildTools, events: ChildEvents): Promise<Child> {
  try {
    if (order.pty) return await startPtyChild(order, order.pty, tools, events);
    return await startChild(order, tools, events);
  } catch (cause) {
    tools.groups.leave(order.proc_id);
    throw cause;
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

/** The process was started and killed again because its output cannot be stored. */
export class NotStored extends Error {
  constructor(cause: unknown) {
    super("the record could not be written", { cause });
  }
}
