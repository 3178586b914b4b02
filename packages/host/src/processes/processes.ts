import { createTopic, newHandle, ToolError, type Topic } from "@octant/core";
import type { Pinned } from "../confinement.ts";
import type { RefOpener } from "../files/files.ts";
import { type Exchange, openPlainExchange } from "../sandbox/exchange.ts";
import { toToolError } from "../system-error.ts";
import type { ProcessLimits } from "./cgroup.ts";
import { childEnvironment, passedEnvironment } from "./environment.ts";
import { checkInput, removeInput, storeInput } from "./input-file.ts";
import { type Launched, type Launcher, toLaunched } from "./launcher.ts";
import { createLiveProcess, type LiveProcess } from "./live-process.ts";
import { listMachine, type MachineProcess } from "./machine.ts";
import { openOutput } from "./output-ref.ts";
import { type ProcessInfo, spoolOf, toInfo } from "./process-info.ts";
import { hasProcessTable } from "./process-table.ts";
import type { StartOrder, StreamName, TerminalSize } from "./protocol.ts";
import { inputPath, listRecords, type ProcessRecord, readRecord, spoolPath } from "./records.ts";
import { toRequestError, toStartError } from "./request-errors.ts";
import { createSlots } from "./slots.ts";
import { SPOOL_CAPS, type Spool, type SpoolCaps } from "./spool.ts";
import { createSupervisorLink } from "./supervisor-link.ts";
import { pause } from "./timer.ts";

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

export interface ProcessEvent {
  readonly type: "started" | "output" | "ended";
  readonly proc_id: string;
  readonly owner: string;
}

/** The processes of a workspace. Exited processes are read from disk and cost no memory. */
export interface Processes {
  /** EXEC_FAILED with the reason when it cannot be started. */
  start(spec: ProcessSpec): Promise<ProcessInfo>;
  /** A folder that Octant shares with the one command it is passed to. */
  openExchange(): Promise<Exchange>;
  /** NOT_FOUND for unknown ones and those of others. */
  get(owner: string, proc_id: string): ProcessInfo;
  /** The newest first; only those older than `before` when it is given. */
  list(owner: string, before?: string): Iterable<ProcessInfo>;
  /** Resolves when it has ended and its output is complete, or when the time is up. */
  exited(owner: string, proc_id: string, ms: number, signal: AbortSignal): Promise<ProcessInfo>;
  /** Readable at any time, also after the end and after a restart of the server. */
  output(owner: string, proc_id: string, stream: StreamName): Spool;
  /** Starts, ends and new output of all processes. Output is reported only for watched processes. */
  readonly events: Topic<ProcessEvent>;
  /** Watches a process: calls back when there may be new output, and when the process has ended. */
  onOutput(proc_id: string, listener: () => void): () => void;
  write(owner: string, proc_id: string, bytes: Uint8Array | "eof"): Promise<void>;
  resize(owner: string, proc_id: string, size: TerminalSize): Promise<void>;
  /** Signals the whole tree. Without a signal: SIGTERM, then SIGKILL after two seconds. */
  kill(owner: string, proc_id: string, signal?: NodeJS.Signals): Promise<ProcessInfo>;
  /** All processes of the machine, by pid; UNSUPPORTED without /proc. */
  machine(): readonly MachineProcess[];
  /** For `fs.read` of `stdout:proc_…` and `stderr:proc_…`. */
  readonly openRef: RefOpener;
  /** Everything down, and nothing more. */
  close(): Promise<void>;
  /** For a server that is exiting: like `close`, but leaves slow processes to the supervisor, which exits last. */
  leave(): Promise<void>;
}

export interface ProcessesOptions {
  /** A private folder of the workspace for output and records. */
  readonly folder: string;
  /** The server's environment; little of it passes. */
  readonly env: NodeJS.ProcessEnv;
  readonly caps?: SpoolCaps;
  readonly maxRunning?: number;
  /** How long a start may wait while that many run. */
  readonly queueMs?: number;
  readonly limits?: ProcessLimits;
  /** Every command is started through it. */
  readonly sandbox?: Launcher;
}

export const MAX_RUNNING = 64;
/** After a signal: how long the exit may take to be known. */
const SETTLE_MS = 500;
/** As many as can end at once. */
const MAX_RECENT = MAX_RUNNING;

/** Nothing is started before the first process is. */
export function createProcesses(options: ProcessesOptions): Processes {
  const { folder, env, caps = SPOOL_CAPS, maxRunning = MAX_RUNNING, queueMs, limits = {}, sandbox } = options;
  const base = passedEnvironment(env);
  const link = createSupervisorLink({ folder, caps, limits });
  const { live } = link;
  const slots = createSlots(maxRunning, queueMs);
  const nameOf = hasProcessTable() ? nameByDescriptor : nameByPath;
  /** Cache of recently exited processes, which are read several times right after they exit. */
  const recent = new Map<string, ProcessRecord>();
  const remember = (record: ProcessRecord) => {
    // While its output is open, its end is reported a second time.
    if (record.end?.output_open) return;
    recent.set(record.start.proc_id, record);
    for (const oldest of recent.keys()) if (recent.size > MAX_RECENT) recent.delete(oldest);
  };

  const events = createTopic<ProcessEvent>({ now: Date.now });
  const announce = (running: LiveProcess, release: Launched["release"]) => {
    const { proc_id, owner } = running.start;
    events.publish({ type: "started", proc_id, owner });
    running.output.listen(() => {
      if (live.has(proc_id)) events.publish({ type: "output", proc_id, owner });
    });
    void running.ended.then((end) => {
      remember({ start: running.start, end, quarantined: release() });
      events.publish({ type: "ended", proc_id, owner });
    });
  };
  /** Reference-counted, because the supervisor knows only whether anybody watches. */
  const watchers = new Map<string, number>();
  const watch = (proc_id: string, change: 1 | -1) => {
    const count = (watchers.get(proc_id) ?? 0) + change;
    if (count > 0) watchers.set(proc_id, count);
    else watchers.delete(proc_id);
    if (!live.has(proc_id) || (change === -1 && count > 0)) return;
    // A process that ends meanwhile, or a supervisor that dies, is reported by its end.
    void link.ask("watch", { proc_id, on: count > 0 }).catch(() => {});
  };

  const recordOf = (proc_id: string): ProcessRecord | undefined => {
    const running = live.get(proc_id);
    if (running) return { start: running.start, end: undefined };
    return recent.get(proc_id) ?? readRecord(folder, proc_id);
  };
  const find = (owner: string, proc_id: string): ProcessRecord => {
    const record = recordOf(proc_id);
    if (record?.start.owner === owner) return record;
    throw notFound(proc_id);
  };
  const get = (owner: string, proc_id: string) => toInfo(folder, find(owner, proc_id));
  const ask: typeof link.ask = (name, what) =>
    link.ask(name, what).catch((cause: unknown) => {
      throw toRequestError(cause, what.proc_id);
    });

  const exited: Processes["exited"] = async (owner, proc_id, ms, signal) => {
    const record = find(owner, proc_id);
    const running = live.get(proc_id);
    if (!running) return toInfo(folder, record);
    const enough = new AbortController();
    const timeUp = pause(ms, AbortSignal.any([signal, enough.signal])).then(() => undefined);
    const end = await Promise.race([running.ended, timeUp]);
    enough.abort(ENOUGH);
    signal.throwIfAborted();
    return toInfo(folder, recent.get(proc_id) ?? { start: running.start, end });
  };

  const launch = async (spec: ProcessSpec, running: LiveProcess): Promise<Launched["release"]> => {
    const { proc_id, owner, command, server } = running.start;
    const { argv, cwd, env: extra = {}, pty, timeoutMs = null } = spec;
    const hasTerminal = pty !== undefined;
    const order: StartOrder = {
      ...{
        proc_id,
        owner,
        command,
        argv,
        program: argv[0],
        timeoutMs,
        pty: pty ?? null,
        launched: false,
        guardFile: null,
      },
      ...{ folder: cwd.path, cwd: nameOf(cwd) },
      env: childEnvironment({ base, extra, pty: hasTerminal, folder: cwd.path, proc_id, server }),
      stdin: storeInput(inputPath(folder, proc_id), spec.stdin ?? "closed"),
    };
    const { order: launched, release } = await toLaunched(sandbox, order, spec.exchange);
    try {
      const { end, ...started } = await link.ask("start", launched);
      running.started(started);
      if (end) link.end(proc_id, end);
      return release;
    } catch (cause) {
      release();
      throw cause;
    }
  };

  return {
    async start(spec) {
      checkPlatform();
      checkInput(spec.stdin);
      const free = await slots.take(spec.signal);
      const proc_id = newHandle("proc", Date.now());
      const facts = { proc_id, owner: spec.owner, command: spec.label, pty: spec.pty !== undefined, caps };
      const running = addOr(free, () => link.add((server) => createLiveProcess({ ...facts, server })));
      try {
        const release = await launch(spec, running);
        announce(running, release);
        void running.ended.then(free);
      } catch (cause) {
        free();
        link.drop(proc_id);
        removeInput(inputPath(folder, proc_id));
        throw toStartError(cause, spec.argv[0], limits);
      }
      return toInfo(folder, { start: running.start, end: undefined }, NOTHING_YET);
    },
    openExchange: async () => (sandbox ? sandbox.openExchange() : openPlainExchange()),
    get,
    *list(owner, before) {
      for (const proc_id of listRecords(folder)) {
        const record = before === undefined || proc_id < before ? recordOf(proc_id) : undefined;
        if (record?.start.owner === owner) yield toInfo(folder, record);
      }
    },
    exited,
    events,
    output: (owner, proc_id, stream) => spoolOf(folder, find(owner, proc_id).start, stream),
    onOutput(proc_id, listener) {
      const running = live.get(proc_id);
      if (!running) return () => {};
      const stop = running.output.listen(() => listener());
      watch(proc_id, 1);
      return () => {
        stop();
        watch(proc_id, -1);
      };
    },
    async write(owner, proc_id, bytes) {
      find(owner, proc_id);
      await ask("input", { proc_id, base64: bytes === "eof" ? null : Buffer.from(bytes).toString("base64") });
    },
    async resize(owner, proc_id, size) {
      find(owner, proc_id);
      await ask("resize", { proc_id, ...size });
    },
    async kill(owner, proc_id, signal) {
      find(owner, proc_id);
      await ask("kill", { proc_id, signal: signal ?? null });
      return exited(owner, proc_id, SETTLE_MS, NEVER);
    },
    machine: listMachine,
    openRef(ref, owner) {
      const [stream, proc_id = ""] = ref.split(":");
      const record = find(owner, proc_id);
      try {
        // The scheme of a ref that gets here is one of the two.
        return openOutput(spoolPath(folder, proc_id, stream as StreamName), record.start.caps);
      } catch (cause) {
        throw toToolError(cause, ref);
      }
    },
    close: link.close,
    leave: link.leave,
  };
}

/** A prebuilt reason: without one an error is created, which takes longer than the rest. */
const ENOUGH = "enough";
const NOTHING_YET = { stdout: 0, stderr: 0 };
const NEVER = new AbortController().signal;

/** The path of an open folder by descriptor, so that it stays the folder that was checked. */
const nameByDescriptor = ({ fd }: ProcessSpec["cwd"]) => `/proc/${process.pid}/fd/${fd}`;
const nameByPath = ({ path }: ProcessSpec["cwd"]) => path;

function checkPlatform(): void {
  if (process.platform === "win32")
    throw new ToolError("UNSUPPORTED", "processes cannot be run on Windows; run Octant in WSL", {
      what: "processes on Windows",
      how: "run Octant in WSL",
    });
}

/** Frees the slot when the server is closing and nothing can be added. */
function addOr<T>(free: () => void, add: () => T): T {
  try {
    return add();
  } catch (cause) {
    free();
    throw cause;
  }
}

const notFound = (proc_id: string) =>
  new ToolError("NOT_FOUND", `there is no process ${proc_id}; proc.ps shows yours`, { id: proc_id });
