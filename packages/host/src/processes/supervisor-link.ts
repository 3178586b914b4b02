import { randomBytes } from "node:crypto";
import { ToolError } from "@octant/core";
import { thisProcess } from "../jobs/process-identity.ts";
import type { ProcessLimits } from "./cgroup.ts";
import { endProcessesOf, sweepLeftovers } from "./leftovers.ts";
import { type LiveProcess, NOT_STARTED } from "./live-process.ts";
import type { EndRecord, RequestName, Requests } from "./protocol.ts";
import { addEnd, endByForce } from "./records.ts";
import type { SpoolCaps } from "./spool.ts";
import { type SupervisorClient, startSupervisor } from "./supervisor-client.ts";

/** The processes that run and the supervisor that holds them: started when it is needed, replaced when it dies. */
export interface SupervisorLink {
  readonly live: ReadonlyMap<string, LiveProcess>;
  /** Adds a process to the list; `server` is the id of its supervisor. */
  add(make: (server: string) => LiveProcess): LiveProcess;
  drop(proc_id: string): void;
  /** It ended before its start was reported. */
  end(proc_id: string, record: EndRecord): void;
  ask<N extends RequestName>(name: N, what: Requests[N]["ask"]): Promise<Requests[N]["answer"]>;
  close(): Promise<void>;
  /** Closes too, but the supervisor may do the rest alone; a `close` before or after this waits for no more than it. */
  leave(): Promise<void>;
}

const SERVER_ID_BYTES = 8;

export interface SupervisorLinkOptions {
  readonly folder: string;
  readonly caps: SpoolCaps;
  readonly limits: ProcessLimits;
}

export function createSupervisorLink({ folder, caps, limits }: SupervisorLinkOptions): SupervisorLink {
  const live = new Map<string, LiveProcess>();
  const sweeping = new Set<Promise<void>>();
  let connection: { readonly server: string; readonly client: SupervisorClient } | undefined;
  let closing: Promise<void> | undefined;

  const sweep = (work: Promise<void>) => {
    const done: Promise<void> = work.finally(() => sweeping.delete(done));
    sweeping.add(done);
  };

  const end = (proc_id: string, record: EndRecord) => {
    const process = live.get(proc_id);
    drop(proc_id);
    process?.end(record);
  };
  const drop = (proc_id: string) => {
    live.delete(proc_id);
    if (live.size === 0) connection?.client.hold(false);
  };
  const endAllByForce = () => {
    for (const { start } of [...live.values()]) {
      const record = endByForce(Date.now());
      const { proc_id, pid } = start;
      if (pid !== NOT_STARTED) addEnd(folder, proc_id, record);
      end(proc_id, record);
    }
  };

  const connect = () => {
    if (closing) throw new ToolError("CANCELLED", "the server stops", {});
    connection ??= open();
    return connection;
  };
  const open = () => {
    // A new id per supervisor separates its processes from those of the previous one.
    const server = `${thisProcess()}:${randomBytes(SERVER_ID_BYTES).toString("hex")}`;
    const lost = () => {
      connection = undefined;
      const leaders = [...live.values()].map(({ start }) => start.pid).filter((pid) => pid !== NOT_STARTED);
      sweep(endProcessesOf(folder, server, leaders));
      endAllByForce();
    };
    const output = (proc_id: string) => live.get(proc_id)?.output.publish();
    const client = startSupervisor({ server, folder, caps, limits }, { output, ended: end, lost });
    return { server, client };
  };

  const finish = async () => {
    await connection?.client.close();
    endAllByForce();
    await Promise.all(sweeping);
  };
  const close = () => {
    closing ??= finish();
    return closing;
  };

  sweep(sweepLeftovers(folder));

  return {
    live,
    add(make) {
      const process = make(connect().server);
      live.set(process.start.proc_id, process);
      return process;
    },
    drop,
    end,
    async ask(name, what) {
      const { client } = connect();
      client.hold(true);
      try {
        return await client.ask(name, what);
      } finally {
        if (live.size === 0) client.hold(false);
      }
    },
    close,
    async leave() {
      const done = close();
      await connection?.client.leave();
      await done;
    },
  };
}
