import { readFileSync } from "node:fs";
import { attempt, invalidArgument, ToolError } from "@octant/core";
import { type Guarded, quarantineNew } from "../sandbox/quarantine.ts";
import { createGroups } from "./cgroup.ts";
import { makeServerFolder, removeServerFolder } from "./leftovers.ts";
import { createPipeReader, Pipes } from "./pipes.ts";
import { PreparedSandboxes } from "./prepared-sandboxes.ts";
import { endTree } from "./process-tree.ts";
import {
  type Hello,
  PROCESS_MARK,
  type Request,
  type RequestOf,
  type Requests,
  SERVER_MARK,
  type Started,
  type StartOrder,
  type ToServer,
} from "./protocol.ts";
import { sweepRecords } from "./records.ts";
import { GRACE_MS, Supervised } from "./supervised.ts";

/** Grace period for all processes after the server has died. */
const ORPHAN_GRACE_MS = 800;
/** Debounce interval for output reports; the first is sent at once. */
const OUTPUT_REPORT_MS = 20;
const MAX_PENDING_INPUT_BYTES = 1024 * 1024;
const SWEEP_EVERY_STARTS = 200;

/** Starts processes for one server, and kills all of them when it closes or dies. */
export class Supervisor implements Requests {
  readonly #hello: Hello;
  readonly #send: (message: ToServer) => void;
  readonly #tools;
  readonly #processes = new Map<string, Supervised>();
  readonly #starting = new Set<Promise<unknown>>();
  /** Whether there was output since the last report of a watched process, while its pause lasts. */
  readonly #watched = new Map<string, { pausing: boolean; waiting: boolean }>();
  #starts = 0;
  #guardFile: string | null = null;
  #closing: Promise<void> | undefined;

  constructor(hello: Hello, send: (message: ToServer) => void) {
    this.#hello = hello;
    this.#send = send;
    const pipes = new Pipes(makeServerFolder(hello.folder, hello.server));
    this.#tools = {
      pipes,
      prepared: new PreparedSandboxes(pipes, hello.server),
      readPipe: createPipeReader(),
      groups: createGroups(hello.server, hello.limits),
    };
  }

  async answer({ id, name, ask }: Request): Promise<ToServer> {
    try {
      // The name determines the argument; a request without an answer has undefined.
      return { type: "reply", id, answer: (await this[name](ask as never)) ?? undefined };
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      const { code, message, details } = cause;
      return { type: "refusal", id, error: { code, message, details } };
    }
  }

  start(order: StartOrder): Promise<Started> {
    const starting = this.#start(order);
    this.#starting.add(starting);
    return starting.finally(() => this.#starting.delete(starting));
  }

  async #start(asked: StartOrder): Promise<Started> {
    const order = this.#tools.groups.limitsEach ? { ...asked, prepared: null } : asked;
    const { proc_id } = order;
    this.#guardFile = order.guardFile ?? this.#guardFile;
    if (this.#closing) throw new ToolError("CANCELLED", "the server stops", {});
    if (this.#starts++ % SWEEP_EVERY_STARTS === 0) setImmediate(sweepRecords, this.#hello.folder, Date.now());
    const supervised = new Supervised(order, this.#hello, this.#tools, () => this.#report(proc_id));
    const started = await supervised.start();
    this.#processes.set(proc_id, supervised);
    if (order.prepared) this.#tools.prepared.prepareNext(order.prepared, supervised.ended);
    void supervised.ended.then((end) => {
      this.#watched.delete(proc_id);
      this.#processes.delete(proc_id);
      this.#send({ type: "ended", proc_id, end });
    });
    return started;
  }

  async input({ proc_id, base64 }: RequestOf<"input">): Promise<void> {
    const supervised = this.#find(proc_id);
    const pending = supervised.pendingInput();
    if (pending === undefined)
      throw invalidArgument("proc_id", `the input of ${proc_id} is closed; background or pty keep it open`);
    const limit = MAX_PENDING_INPUT_BYTES;
    if (pending > limit) {
      const message = `${proc_id} does not read its input; ${limit} bytes are waiting already`;
      throw new ToolError("LIMIT_EXCEEDED", message, { limit, what: "waiting input" });
    }
    supervised.input(base64 === null ? "end" : Buffer.from(base64, "base64"));
  }

  async resize({ proc_id, cols, rows }: RequestOf<"resize">): Promise<void> {
    if (!this.#find(proc_id).resize({ cols, rows }))
      throw invalidArgument("resize", `${proc_id} has no terminal; start it with pty`);
  }

  async kill({ proc_id, signal }: RequestOf<"kill">): Promise<void> {
    const supervised = this.#processes.get(proc_id);
    if (supervised) return supervised.kill(signal);
    // It has exited, but its descendants may still run.
    const tree = { leaders: [], mark: `${PROCESS_MARK}=${proc_id}` };
    await endTree(tree, { signal: signal ?? "SIGTERM", graceMs: GRACE_MS });
  }

  async watch({ proc_id, on }: RequestOf<"watch">): Promise<void> {
    if (!on || !this.#processes.has(proc_id)) this.#watched.delete(proc_id);
    else if (!this.#watched.has(proc_id)) this.#watched.set(proc_id, { pausing: false, waiting: false });
    // Output may have come after the watcher last looked and before we knew of it.
    this.#report(proc_id);
  }

  /** Reports new output of a watched process: the first at once, then debounced. */
  #report(proc_id: string): void {
    const state = this.#watched.get(proc_id);
    if (!state) return;
    state.waiting = state.pausing;
    if (state.pausing) return;
    this.#send({ type: "output", proc_id });
    state.pausing = true;
    setTimeout(() => {
      state.pausing = false;
      if (state.waiting) this.#report(proc_id);
    }, OUTPUT_REPORT_MS);
  }

  #find(proc_id: string): Supervised {
    const found = this.#processes.get(proc_id);
    if (found) return found;
    throw invalidArgument("proc_id", `${proc_id} does not run any more; proc.logs has its output`);
  }

  close(): Promise<void> {
    this.#closing ??= this.#takeDown();
    return this.#closing;
  }

  async #takeDown(): Promise<void> {
    await Promise.allSettled(this.#starting);
    this.#tools.prepared.close();
    const running = [...this.#processes.values()];
    for (const one of running) one.markKilled();
    const tree = { leaders: running.map(({ pid }) => pid), mark: `${SERVER_MARK}=${this.#hello.server}` };
    const left = await endTree(tree, { signal: "SIGTERM", graceMs: ORPHAN_GRACE_MS });
    if (left.length === 0) await Promise.all(running.map(({ ended }) => ended));
    const guardFile = this.#guardFile;
    // The server may have died before it checked the files that its commands created. Its sandbox wrote the file; it is
    // missing when the state folder was removed.
    if (running.length > 0 && guardFile !== null)
      attempt(() => quarantineNew(JSON.parse(readFileSync(guardFile, "utf8")) as Guarded));
    this.#tools.pipes.close();
    this.#tools.groups.close();
    removeServerFolder(this.#hello.folder, this.#hello.server);
  }
}
