import { readFileSync } from "node:fs";
import { errnoOf } from "../errno.ts";
import { type Guarded, quarantineNew } from "../sandbox/quarantine.ts";
import { createGroups } from "./cgroup.ts";
import { makeServerFolder, removeServerFolder } from "./leftovers.ts";
import { createOutputDebounce } from "./output-debounce.ts";
import { createPipeReader, createPipes } from "./pipes.ts";
import { endTree } from "./process-tree.ts";
import {
  type Hello,
  PROCESS_MARK,
  type Refusal,
  type RequestName,
  type Requests,
  SERVER_MARK,
  type StartOrder,
  type ToServer,
  type ToSupervisor,
} from "./protocol.ts";
import { sweepRecords } from "./records.ts";
import { GRACE_MS, NotStored, type Supervised, supervise } from "./supervised.ts";
import { within } from "./timer.ts";

/** The connection to the server. When it closes, for any reason, the server is dead. */
export interface Line {
  send(message: ToServer): void;
  onMessage(listener: (message: ToSupervisor) => void): void;
  onCut(listener: () => void): void;
}

/** Grace period for all processes after the server has died. */
const FAREWELL_MS = 800;
/** Debounce interval for output reports; the first is sent at once. */
const OUTPUT_REPORT_MS = 20;
const MAX_PENDING_INPUT_BYTES = 1024 * 1024;
const SWEEP_EVERY_STARTS = 200;
/** Most commands are short: their start and end are written and reported together. */
const BRIEF_MS = 3;

/** Starts processes for one server and kills all of them when it dies. Resolves when that is done. */
export function runSupervisor(line: Line): Promise<void> {
  const done = Promise.withResolvers<void>();
  let desk: Desk | undefined;
  const finish = async () => {
    await desk?.close();
    done.resolve();
  };
  line.onCut(finish);
  line.onMessage((message) => {
    if (message.type === "hello") desk = createDesk(message.hello, line);
    else if (message.type === "close") {
      line.send({ type: "closing" });
      finish();
    } else answer(message);
  });
  const answer = async ({ id, name, ask }: Extract<ToSupervisor, { type: "request" }>) => {
    try {
      // The name determines the request type; destructuring loses that correlation.
      const handle = desk?.requests[name] as (ask: unknown) => Promise<Requests[RequestName]["answer"]>;
      line.send({ type: "reply", id, answer: await handle(ask) });
    } catch (cause) {
      if (!(cause instanceof Refused)) throw cause;
      line.send({ type: "refusal", id, refusal: cause.refusal });
    }
  };
  return done.promise;
}

interface Desk {
  readonly requests: { [N in RequestName]: (ask: Requests[N]["ask"]) => Promise<Requests[N]["answer"]> };
  close(): Promise<void>;
}

class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.kind);
    this.refusal = refusal;
  }
}

function createDesk(hello: Hello, line: Line): Desk {
  const folder = makeServerFolder(hello.folder, hello.server);
  const tools = {
    pipes: createPipes(folder),
    readPipe: createPipeReader(),
    groups: createGroups(hello.server, hello.limits),
  };
  const processes = new Map<string, Supervised>();
  const starting = new Set<Promise<unknown>>();
  const output = createOutputDebounce(OUTPUT_REPORT_MS, (proc_id) => line.send({ type: "output", proc_id }));
  let starts = 0;
  let guardFile: string | null = null;
  let closing: Promise<void> | undefined;

  const find = (proc_id: string): Supervised => {
    const found = processes.get(proc_id);
    if (!found) throw new Refused({ kind: "no_process" });
    return found;
  };

  const start = async (order: StartOrder): Promise<Requests["start"]["answer"]> => {
    const { proc_id } = order;
    guardFile = order.guardFile ?? guardFile;
    if (closing) throw new Refused({ kind: "no_process" });
    if (starts++ % SWEEP_EVERY_STARTS === 0) setImmediate(sweepRecords, hello.folder, Date.now());
    const supervised = await supervise(order, hello, tools, () => output.report(proc_id)).catch(refuseStart);
    processes.set(proc_id, supervised);
    const ended = supervised.ended.then((end) => {
      output.watch(proc_id, false);
      processes.delete(proc_id);
      return end;
    });
    const end = await within(BRIEF_MS, ended);
    if (end) return { ...supervised.started, end };
    await supervised.record().catch(refuseStart);
    ended.then((late) => line.send({ type: "ended", proc_id, end: late }));
    return { ...supervised.started, end: null };
  };

  const takeDown = async () => {
    await Promise.allSettled(starting);
    const running = [...processes.values()];
    for (const one of running) one.markKilled();
    const leaders = running.map(({ started }) => started.pid);
    const mark = `${SERVER_MARK}=${hello.server}`;
    const left = await endTree({ leaders, mark }, { signal: "SIGTERM", graceMs: FAREWELL_MS });
    if (left.length === 0) await Promise.all(running.map(({ ended }) => ended));
    if (running.length > 0 && guardFile !== null) quarantineBy(guardFile);
    tools.pipes.close();
    tools.groups.close();
    removeServerFolder(hello.folder, hello.server);
  };

  return {
    requests: {
      start(order) {
        const started = start(order);
        starting.add(started);
        return started.finally(() => starting.delete(started));
      },
      async input({ proc_id, base64 }) {
        const pending = find(proc_id).pendingInput();
        if (pending === undefined) throw new Refused({ kind: "no_input" });
        if (pending > MAX_PENDING_INPUT_BYTES)
          throw new Refused({ kind: "input_full", limit: MAX_PENDING_INPUT_BYTES });
        find(proc_id).input(base64 === null ? "end" : Buffer.from(base64, "base64"));
        return null;
      },
      async resize({ proc_id, cols, rows }) {
        if (!find(proc_id).resize({ cols, rows })) throw new Refused({ kind: "no_terminal" });
        return null;
      },
      async kill({ proc_id, signal }) {
        const supervised = processes.get(proc_id);
        if (supervised) await supervised.kill(signal);
        // It has exited, but its descendants may still run.
        else
          await endTree(
            { leaders: [], mark: `${PROCESS_MARK}=${proc_id}` },
            { signal: signal ?? "SIGTERM", graceMs: GRACE_MS },
          );
        return null;
      },
      async watch({ proc_id, on }) {
        output.watch(proc_id, on && processes.has(proc_id));
        return null;
      },
    },
    close: () => {
      closing ??= takeDown();
      return closing;
    },
  };
}

/** The server may have died before it checked the files that its commands created. */
function quarantineBy(guardFile: string): void {
  try {
    quarantineNew(JSON.parse(readFileSync(guardFile, "utf8")) as Guarded); // The sandbox of the server wrote it.
  } catch {
    // The state folder was removed.
  }
}

const refuseStart = (cause: unknown): never => {
  if (cause instanceof NotStored)
    throw new Refused({ kind: "not_kept", errno: errnoOf(cause.cause) ?? String(cause.cause) });
  throw new Refused({ kind: "not_started", errno: errnoOf(cause) ?? String(cause) });
};
