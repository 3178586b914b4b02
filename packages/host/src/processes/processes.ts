import { unlinkSync } from "node:fs";
import { attempt, createTopic, invalidArgument, newHandle, ToolError, type Topic } from "@octant/core";
import type { RefOpener } from "../files/files.ts";
import { pidOf } from "../jobs/process-identity.ts";
import { type Exchange, openPlainExchange } from "../sandbox/exchange.ts";
import { toToolError } from "../system-error.ts";
import type { ProcessLimits } from "./cgroup.ts";
import { passedEnvironment } from "./environment.ts";
import { storeInput } from "./input-file.ts";
import { openOutput } from "./output-ref.ts";
import { type ProcessInfo, spoolOf, toInfo } from "./process-info.ts";
import { listMachine } from "./process-table.ts";
import type { RequestName, RequestOf, StreamName, TerminalSize } from "./protocol.ts";
import {
  inputPath,
  listRecords,
  type ProcessRecord,
  readRecord,
  spoolPath,
  type UnreadableRecord,
} from "./records.ts";
import { createSlots } from "./slots.ts";
import { SPOOL_CAPS, type Spool, type SpoolCaps } from "./spool.ts";
import { type Launcher, type ProcessSpec, toStartOrder } from "./start-order.ts";
import { type LiveProcess, SupervisorLink } from "./supervisor-link.ts";
import { pause } from "./timer.ts";

type Release = Awaited<ReturnType<typeof toStartOrder>>["release"];

export interface ProcessEvent {
  readonly type: "started" | "output" | "ended";
  readonly proc_id: string;
  readonly owner: string;
}

export interface ProcessesOptions {
  /** A private folder of the workspace for output and records. */
  readonly folder: string;
  /** The server's environment; only harmless variables are passed on. */
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
/** After a signal: how long to wait for the exit report. */
const SETTLE_MS = 500;
/** Enough for all running processes to exit at the same time. */
const MAX_RECENT = MAX_RUNNING;

/** The processes of a workspace. Exited processes are read from disk and cost no memory. */
export class Processes {
  /** Starts, ends and new output of all processes. Output is reported only for watched processes. */
  readonly events: Topic<ProcessEvent> = createTopic<ProcessEvent>({ now: Date.now });
  /** All processes of the machine, by pid; UNSUPPORTED without /proc. */
  readonly machine = listMachine;
  readonly #folder: string;
  readonly #caps: SpoolCaps;
  readonly #sandbox: Launcher | undefined;
  readonly #base: Readonly<Record<string, string>>;
  readonly #link: SupervisorLink;
  readonly #slots;
  /** Recently exited processes: they are read several times right after they exit. */
  readonly #recent = new Map<string, ProcessRecord>();
  /** Reference-counted, because the supervisor knows only whether anybody watches. */
  readonly #watchers = new Map<string, number>();
  readonly #waits = new Set<AbortController>();
  /** How many are being started. */
  #launching = 0;

  /** Nothing is started before the first process is. */
  constructor(options: ProcessesOptions) {
    const { folder, env, caps = SPOOL_CAPS, maxRunning = MAX_RUNNING, queueMs, limits = {} } = options;
    this.#folder = folder;
    this.#caps = caps;
    this.#sandbox = options.sandbox;
    this.#base = passedEnvironment(env);
    this.#link = new SupervisorLink({ folder, caps, limits });
    this.#slots = createSlots(maxRunning, queueMs);
  }

  /** Starts the supervisor, which takes as long as a small program, before the first process needs it. */
  prepare(): void {
    if (process.platform !== "win32") this.#link.prepare();
  }

  /** EXEC_FAILED with the reason when it cannot be started. */
  async start(spec: ProcessSpec): Promise<ProcessInfo> {
    checkPlatform();
    const free = await this.#slots.take(spec.signal);
    const proc_id = newHandle("proc", Date.now());
    try {
      const facts = {
        proc_id,
        owner: spec.owner,
        command: spec.label,
        pty: spec.pty !== undefined,
        caps: this.#caps,
      };
      const running = this.#link.add(facts);
      this.#announce(running, await this.#launch(spec, running));
      void running.ended.then(free);
      return toInfo(this.#folder, { start: running.start, end: undefined });
    } catch (cause) {
      free();
      this.#link.drop(proc_id);
      // There was no input, or it was already consumed.
      attempt(() => unlinkSync(inputPath(this.#folder, proc_id)));
      throw cause;
    }
  }

  /** Returns the function to call when it has ended. */
  async #launch(spec: ProcessSpec, running: LiveProcess): Promise<Release> {
    const { start } = running;
    const stdin = storeInput(inputPath(this.#folder, start.proc_id), spec.stdin ?? "closed");
    const isAlone = this.#launching++ === 0;
    try {
      const surroundings = { base: this.#base, sandbox: this.#sandbox, stdin, isAlone };
      const { order, release } = await toStartOrder(spec, start, surroundings);
      try {
        running.started(await this.#link.ask("start", order));
        return release;
      } catch (cause) {
        release();
        throw cause;
      }
    } finally {
      this.#launching--;
    }
  }

  #announce(running: LiveProcess, release: Release): void {
    const { proc_id, owner } = running.start;
    this.events.publish({ type: "started", proc_id, owner });
    running.output.listen(() => {
      if (this.#link.live.has(proc_id)) this.events.publish({ type: "output", proc_id, owner });
    });
    void running.ended.then((end) => {
      this.#remember({ start: running.start, end, ...release() });
      this.events.publish({ type: "ended", proc_id, owner });
    });
  }

  #remember(record: ProcessRecord): void {
    // While its output is open, its end is reported a second time.
    if (record.end?.output_open) return;
    this.#recent.set(record.start.proc_id, record);
    for (const oldest of this.#recent.keys()) if (this.#recent.size > MAX_RECENT) this.#recent.delete(oldest);
  }

  /** A folder that Octant shares with the one command it is passed to. */
  async openExchange(): Promise<Exchange> {
    return this.#sandbox?.openExchange() ?? openPlainExchange();
  }

  /** NOT_FOUND for unknown ones and those of others; the owner null may see all. */
  get(owner: string | null, proc_id: string): ProcessInfo {
    return toInfo(this.#folder, this.#find(owner, proc_id));
  }

  /** The newest first; only those older than `before` when it is given. */
  *list(owner: string | null, before?: string): Iterable<ProcessInfo> {
    for (const proc_id of listRecords(this.#folder)) {
      const record = before === undefined || proc_id < before ? this.#recordOf(proc_id) : undefined;
      if (record && "start" in record && isOf(record.start, owner)) yield toInfo(this.#folder, record);
    }
  }

  /** Processes whose records this version cannot read, unless they certainly belong to others. */
  *listUnreadable(owner: string | null): Iterable<{ proc_id: string; why: UnreadableRecord["unreadable"] }> {
    for (const proc_id of listRecords(this.#folder)) {
      const record = this.#recordOf(proc_id);
      if (record && "unreadable" in record && isOf(record, owner)) yield { proc_id, why: record.unreadable };
    }
  }

  #recordOf(proc_id: string): ProcessRecord | UnreadableRecord | undefined {
    const running = this.#link.live.get(proc_id);
    if (running) return { start: running.start, end: undefined };
    return this.#recent.get(proc_id) ?? readRecord(this.#folder, proc_id);
  }

  #find(owner: string | null, proc_id: string): ProcessRecord {
    const record = this.#recordOf(proc_id);
    if (record && "start" in record && isOf(record.start, owner)) return record;
    if (record && "unreadable" in record && isOf(record, owner))
      throw new ToolError(
        "NOT_FOUND",
        `the record of ${proc_id} is of a ${record.unreadable}; update Octant`,
        {
          id: proc_id,
        },
      );
    throw new ToolError("NOT_FOUND", `there is no process ${proc_id}; proc.ps shows yours`, { id: proc_id });
  }

  /** Resolves when it has ended and its output is complete, or when the time is up. */
  async exited(owner: string | null, proc_id: string, ms: number, signal: AbortSignal): Promise<ProcessInfo> {
    const record = this.#find(owner, proc_id);
    const running = this.#link.live.get(proc_id);
    if (!running) return toInfo(this.#folder, record);
    const enough = new AbortController();
    // A wait without an end is not that of a caller.
    if (ms < Number.POSITIVE_INFINITY) this.#waits.add(enough);
    const timeUp = pause(ms, AbortSignal.any([signal, enough.signal])).then(() => undefined);
    const end = await Promise.race([running.ended, timeUp]);
    this.#waits.delete(enough);
    // Without a reason, Node makes an error with a stack.
    enough.abort("over");
    signal.throwIfAborted();
    return toInfo(this.#folder, this.#recent.get(proc_id) ?? { start: running.start, end });
  }

  /** Ends the waits for processes, as if their time was up; the processes run on. Returns how many there were. */
  stopWaiting(): number {
    const { size } = this.#waits;
    for (const wait of this.#waits) wait.abort("no longer awaited");
    return size;
  }

  /** Readable at any time, also after the end and after a restart of the server. */
  output(owner: string | null, proc_id: string, stream: StreamName): Spool {
    return spoolOf(this.#folder, this.#find(owner, proc_id).start, stream);
  }

  /** Watches a process: calls back when there may be new output, and when the process has ended. */
  onOutput(proc_id: string, listener: () => void): () => void {
    const running = this.#link.live.get(proc_id);
    if (!running) return () => {};
    const stop = running.output.listen(() => listener());
    this.#watch(proc_id, 1);
    return () => {
      stop();
      this.#watch(proc_id, -1);
    };
  }

  #watch(proc_id: string, change: 1 | -1): void {
    const count = (this.#watchers.get(proc_id) ?? 0) + change;
    if (count > 0) this.#watchers.set(proc_id, count);
    else this.#watchers.delete(proc_id);
    if (!this.#link.live.has(proc_id) || (change === -1 && count > 0)) return;
    // A process that ends meanwhile, or a supervisor that dies, is reported by its end.
    void this.#link.ask("watch", { proc_id, on: count > 0 }).catch(() => {});
  }

  async write(owner: string | null, proc_id: string, bytes: Uint8Array | "eof"): Promise<void> {
    const base64 = bytes === "eof" ? null : Buffer.from(bytes).toString("base64");
    await this.#ask(owner, "input", { proc_id, base64 });
  }

  async resize(owner: string | null, proc_id: string, size: TerminalSize): Promise<void> {
    await this.#ask(owner, "resize", { proc_id, ...size });
  }

  /** Signals the whole tree. Without a signal: SIGTERM, then SIGKILL after two seconds. */
  async kill(owner: string | null, proc_id: string, signal?: NodeJS.Signals): Promise<ProcessInfo> {
    await this.#ask(owner, "kill", { proc_id, signal: signal ?? null });
    return this.exited(owner, proc_id, SETTLE_MS, NEVER);
  }

  async #ask<N extends RequestName>(owner: string | null, name: N, what: RequestOf<N>): Promise<void> {
    const { proc_id } = what;
    const { start, end } = this.#find(owner, proc_id);
    // Without this a signal would go nowhere and look as if it had been sent.
    if (!end && !this.#link.live.has(proc_id))
      throw invalidArgument(
        "proc_id",
        `${proc_id} runs in another Octant server, pid ${pidOf(start.server)}; only that one can reach it`,
      );
    await this.#link.ask(name, what);
  }

  /** For `fs.read` of `stdout:proc_…` and `stderr:proc_…`. */
  readonly openRef: RefOpener = (ref, owner) => {
    const [stream, proc_id = ""] = ref.split(":");
    const record = this.#find(owner, proc_id);
    try {
      // The scheme of a ref that gets here is one of the two.
      return openOutput(spoolPath(this.#folder, proc_id, stream as StreamName), record.start.caps);
    } catch (cause) {
      throw toToolError(cause, ref);
    }
  };

  /** Ends all processes and starts no more. */
  close(): Promise<void> {
    return this.#link.close();
  }

  /** For a server that is exiting: like `close`, but leaves slow processes to the supervisor, which exits last. */
  leave(): Promise<void> {
    return this.#link.leave();
  }
}

export const createProcesses = (options: ProcessesOptions): Processes => new Processes(options);

const NEVER = new AbortController().signal;

function checkPlatform(): void {
  if (process.platform === "win32")
    throw new ToolError("UNSUPPORTED", "processes cannot be run on Windows; run Octant in WSL", {
      what: "processes on Windows",
      how: "run Octant in WSL",
    });
}

/** Owns the commands that Octant runs for itself, such as those with which `octant doctor` asks for versions. Nobody else lists them. */
export const OWN_COMMANDS = "octant";

const isOf = (record: { readonly owner?: string | undefined }, owner: string | null): boolean =>
  owner === null ? record.owner !== OWN_COMMANDS : (record.owner ?? owner) === owner;
