import { writeFileSync } from "node:fs";
import { type ChildEvents, type ChildTools, startChild } from "./child.ts";
import { createKeptOutput } from "./kept-output.ts";
import { endTree, signalTree, type Tree } from "./process-tree.ts";
import {
  type EndRecord,
  type Hello,
  PROCESS_MARK,
  type Started,
  type StartOrder,
  type TerminalSize,
} from "./protocol.ts";
import { startPtyChild } from "./pty-child.ts";
import type { Spares } from "./spares.ts";
import { after } from "./timer.ts";

/** A process in the hands of the supervisor. */
export interface Supervised {
  readonly started: Started;
  /** Resolves when the process is gone and its output is complete, or is held open by others. */
  readonly ended: Promise<EndRecord>;
  /** Whatever ends it from now on, it was killed. */
  markKilled(): void;
  /** Bytes of input that it has not taken yet; undefined when its input is closed. */
  pendingInput(): number | undefined;
  input(bytes: Buffer | "end"): void;
  /** False when it has no terminal. */
  resize(size: TerminalSize): boolean;
  /** Without a signal: SIGTERM, and SIGKILL for what is left after a grace; resolves when all of it is gone. */
  kill(signal: NodeJS.Signals | null): Promise<void>;
}

/** How long the output may stay open after the exit before the exit is told all the same. */
const DRAIN_MS = 100;
/** How long a process has to end by itself when it is killed or its time is up. */
export const GRACE_MS = 2_000;
/** When memory runs out, the system should take what we started, not the server. */
const OUT_OF_MEMORY_SCORE = "500";

/** Throws the system's error when the process cannot be started, and NotKept when there is no room for it. */
export async function supervise(
  order: StartOrder,
  hello: Hello,
  tools: ChildTools & { readonly spares: Spares },
  onOutput: () => void,
): Promise<Supervised> {
  const { proc_id, owner, command } = order;
  const kept = createKeptOutput(proc_id, hello, tools.spares);
  let reason: "killed" | "timed_out" | undefined;
  let sent: NodeJS.Signals | undefined;
  let outcome: { code: number | null; signal: string | null; at: number } | undefined;
  let drained = false;
  let inputClosed = order.stdin !== "open" && order.pty === null;
  let stopTimer = () => {};
  let stopDraining = () => {};
  const ended = Promise.withResolvers<EndRecord>();

  const report = () => {
    if (!outcome) return;
    const { code, signal, at } = outcome;
    const end: EndRecord = {
      status: reason ?? (signal !== null && signal === sent ? "killed" : "exited"),
      exit_code: code,
      signal,
      ended_at: at,
      output_open: !drained,
      output_failure: kept.failure(),
    };
    stopDraining();
    kept.recordEnd(end);
    ended.resolve(end);
  };
  const events: ChildEvents = {
    output(stream, bytes) {
      kept.write(stream, bytes);
      onOutput();
    },
    exit(code, signal) {
      stopTimer();
      outcome = { code, signal, at: Date.now() };
      if (drained) return report();
      stopDraining = after(DRAIN_MS, report);
    },
    drained() {
      drained = true;
      kept.close();
      if (outcome) report();
    },
  };

  const child = order.pty
    ? await startPtyChild(order, order.pty, events)
    : await startChild(order, tools, events);
  const { pid } = child;
  const started: Started = { pid, started_at: Date.now() };
  lowerImportance(pid);

  // After its end the number may be somebody else's; what it left behind carries the mark.
  const tree = (): Tree => ({ leaders: outcome ? [] : [pid], mark: `${PROCESS_MARK}=${proc_id}` });
  const end = (why: "killed" | "timed_out", signal: NodeJS.Signals) => {
    if (!outcome) reason ??= why;
    return endTree(tree(), { signal, graceMs: GRACE_MS });
  };
  try {
    const { server, caps } = hello;
    kept.recordStart({ proc_id, owner, command, ...started, pty: order.pty !== null, server, caps });
  } catch (cause) {
    await end("killed", "SIGKILL");
    throw new NotKept(cause);
  }
  if (order.timeoutMs !== null) stopTimer = after(order.timeoutMs, () => end("timed_out", "SIGTERM"));

  return {
    started,
    ended: ended.promise,
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

/** The process was started and ended again, because there is no place to keep what it prints. */
export class NotKept extends Error {
  constructor(cause: unknown) {
    super("the record could not be written", { cause });
  }
}

function lowerImportance(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, OUT_OF_MEMORY_SCORE);
  } catch {
    // It is gone already, or this system has no such thing.
  }
}
