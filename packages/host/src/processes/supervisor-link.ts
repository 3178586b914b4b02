import { randomBytes } from "node:crypto";
import { createTopic, ToolError, type Topic } from "@octant/core";
import { thisProcess } from "../jobs/process-identity.ts";
import { endProcessesOf, sweepLeftovers } from "./leftovers.ts";
import type { EndRecord, Hello, RequestName, RequestOf, Requests, Started, StartRecord } from "./protocol.ts";
import { addEnd, endByForce } from "./records.ts";
import { SupervisorClient } from "./supervisor-client.ts";

const SERVER_ID_BYTES = 8;
/** No process has this number. */
const NOT_STARTED = 0;

/** A process of this server that has not ended, as far as the server knows. */
export class LiveProcess {
  start: StartRecord;
  readonly ended: Promise<EndRecord>;
  /** Published when there may be new output, and at the end. */
  readonly output: Topic<void> = createTopic<void>({ maxEvents: 0 });
  readonly #end = Promise.withResolvers<EndRecord>();

  constructor(order: Omit<StartRecord, keyof Started>) {
    this.start = { ...order, pid: NOT_STARTED, started_at: Date.now() };
    this.ended = this.#end.promise;
  }

  started(facts: Started): void {
    this.start = { ...this.start, ...facts };
  }

  end(record: EndRecord): void {
    this.#end.resolve(record);
    this.output.publish();
  }
}

/** The processes that run and the supervisor that holds them: started when it is needed, replaced when it dies. */
export class SupervisorLink {
  readonly live = new Map<string, LiveProcess>();
  readonly #options: Omit<Hello, "server">;
  readonly #sweeping = new Set<Promise<void>>();
  #connection: { readonly server: string; readonly client: SupervisorClient } | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: Omit<Hello, "server">) {
    this.#options = options;
    this.#sweep(sweepLeftovers(options.folder));
  }

  prepare(): void {
    this.#connect();
  }

  add(order: Omit<StartRecord, keyof Started | "server">): LiveProcess {
    const added = new LiveProcess({ ...order, server: this.#connect().server });
    this.live.set(added.start.proc_id, added);
    return added;
  }

  drop(proc_id: string): void {
    if (this.live.delete(proc_id) && this.live.size === 0) this.#connection?.client.hold(false);
  }

  async ask<N extends RequestName>(name: N, what: RequestOf<N>): Promise<Awaited<ReturnType<Requests[N]>>> {
    const { client } = this.#connect();
    client.hold(true);
    try {
      return await client.ask(name, what);
    } finally {
      if (this.live.size === 0) client.hold(false);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  /** Closes too, but lets the supervisor finish alone; a `close` before or after this waits no longer than this. */
  async leave(): Promise<void> {
    const done = this.close();
    await this.#connection?.client.leave();
    await done;
  }

  #connect() {
    if (this.#closing) throw new ToolError("CANCELLED", "the server stops", {});
    this.#connection ??= this.#open();
    return this.#connection;
  }

  #open() {
    const { folder } = this.#options;
    // A new id per supervisor separates its processes from those of the previous one.
    const server = `${thisProcess()}:${randomBytes(SERVER_ID_BYTES).toString("hex")}`;
    const client = new SupervisorClient(
      { ...this.#options, server },
      {
        output: (proc_id) => this.live.get(proc_id)?.output.publish(),
        ended: (proc_id, end) => this.#end(proc_id, end),
        lost: () => {
          this.#connection = undefined;
          const pids = [...this.live.values()].map(({ start }) => start.pid);
          this.#sweep(
            endProcessesOf(
              folder,
              server,
              pids.filter((pid) => pid !== NOT_STARTED),
            ),
          );
          this.#endAllByForce();
        },
      },
    );
    return { server, client };
  }

  #end(proc_id: string, record: EndRecord): void {
    const ended = this.live.get(proc_id);
    this.drop(proc_id);
    ended?.end(record);
  }

  #endAllByForce(): void {
    for (const { start } of [...this.live.values()]) {
      const record = endByForce(Date.now());
      if (start.pid !== NOT_STARTED) addEnd(this.#options.folder, start.proc_id, record);
      this.#end(start.proc_id, record);
    }
  }

  #sweep(work: Promise<void>): void {
    const done: Promise<void> = work.finally(() => this.#sweeping.delete(done));
    this.#sweeping.add(done);
  }

  async #finish(): Promise<void> {
    await this.#connection?.client.close();
    this.#endAllByForce();
    await Promise.all(this.#sweeping);
  }
}
