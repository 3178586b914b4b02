import { setTimeout as sleep } from "node:timers/promises";
import type {
  AttendedBatch,
  ControlCall,
  ControlCallAnswer,
  ControlClient,
  ProcessStatus,
} from "@octant/app";
import { createTopic, ToolError } from "@octant/core";
import type { OctantProcess, ProcessList } from "./api.ts";

/** How the console reaches the processes of this person. */
export interface Machine {
  /** The ids of those that listen. */
  list(): readonly string[];
  /** undefined when it is gone. */
  connect(id: string): Promise<ControlClient | undefined>;
  /** Calls back when a process may have joined; ends with the returned function. */
  watch(onChange: () => void): () => void;
}

/** An event of a process, as all readers get it. */
export interface SharedEvent {
  readonly process: string;
  readonly topic: string;
  readonly at: number;
  /** Only this caller, and those who see all, may read it; nobody else when it is empty. */
  readonly owner: string | undefined;
  /** The event as JSON: it is serialised once for all readers. */
  readonly json: string;
}

const MAX_EVENTS = 20_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** The state of a process that is busy is asked for at most this often. */
const STATUS_MS = 250;
/** A process that did not answer is asked again after this long. */
const RETRY_MS = 2_000;
/** A quiet process is asked this often, because one that was stopped sends no event. */
const HEARTBEAT_MS = 5_000;
/** A list does not wait longer for a process that is busy; its state follows as an event. */
const LIST_MS = 3_000;
/** After the last reader has left, the processes are followed for this long. */
const LINGER_MS = 10_000;

export type Processes = ReturnType<typeof createProcesses>;

/**
 * The processes of this person and their events in one numbered stream. They are attended only while somebody watches:
 * otherwise no connection is open, and they record nothing.
 */
export function createProcesses(machine: Machine) {
  const events = createTopic<SharedEvent>({
    now: Date.now,
    maxEvents: MAX_EVENTS,
    maxBytes: MAX_BYTES,
    sizeOf: ({ json }) => json.length,
  });
  const known = new Map<string, Attended>();
  const connecting = new Map<string, Promise<void>>();
  let stopWatching: (() => void) | undefined;
  let users = 0;
  let closing: NodeJS.Timeout | undefined;
  let heartbeat: NodeJS.Timeout | undefined;
  /** When the last listed call of a process ended: what it lists again must not be doubled. */
  const heardUntil = new Map<string, number>();
  /** The number of the next event when the last watcher left: events since then have no number. */
  let gap = 0;

  const publish = (process: string, topic: string, event: object, at: number, owner?: string) =>
    events.publish({ process, topic, at, owner, json: JSON.stringify(event) });

  const refresh = async (one: Attended) => {
    one.isDirty = false;
    one.asked += 1;
    const state = await one.client
      .status()
      .then(toProcess(one.id), (cause: unknown) => (isLate(cause) ? toSilent(one) : undefined));
    one.asked -= 1;
    if (!state || known.get(one.id) !== one) return;
    if (state.state === "silent") refreshSoon(one, RETRY_MS);
    const json = JSON.stringify(state);
    const isNew = one.state === undefined;
    if (json === one.json) return;
    one.state = state;
    one.json = json;
    publish(one.id, "roster", { type: isNew ? "joined" : "changed", process: state }, Date.now(), NOBODY);
  };
  const refreshSoon = (one: Attended, delayMs = STATUS_MS) => {
    if (one.isDirty) return;
    one.isDirty = true;
    setTimeout(() => known.get(one.id) === one && void refresh(one), delayMs).unref();
  };
  const take = (one: Attended) => (batch: AttendedBatch) => {
    for (const { topic, at, owner, event } of batch.events) {
      publish(one.id, topic, event, at, owner);
      if (topic === "calls") heardUntil.set(one.id, Math.max(at, heardUntil.get(one.id) ?? 0));
    }
    if (batch.lost !== undefined) publish(one.id, "calls_skipped", { count: batch.lost }, Date.now());
    refreshSoon(one);
  };
  const leave = (one: Attended) => {
    if (known.get(one.id) !== one) return;
    known.delete(one.id);
    publish(one.id, "roster", { type: "left" }, Date.now(), NOBODY);
  };
  const beat = () => {
    for (const one of known.values()) if (one.asked === 0) refreshSoon(one, 0);
  };
  const join = async (id: string) => {
    const client = await machine.connect(id);
    if (!client) return;
    if (!stopWatching) return client[Symbol.dispose]();
    const one: Attended = { id, client, state: undefined, json: "", isDirty: false, asked: 0 };
    known.set(id, one);
    void client.closed.then(() => leave(one));
    // A process of an earlier version cannot be attended; a stopped or busy one is when it goes on.
    const attended = client.attend(take(one), heardUntil.get(id)).catch(() => {});
    await Promise.all([attended, refresh(one)]);
  };
  const look = (): Promise<unknown> => {
    const running = machine.list();
    for (const id of heardUntil.keys()) if (!running.includes(id)) heardUntil.delete(id);
    for (const id of running) {
      if (known.has(id) || connecting.has(id)) continue;
      connecting.set(
        id,
        join(id).finally(() => connecting.delete(id)),
      );
    }
    return Promise.all(connecting.values());
  };
  const close = () => {
    clearTimeout(closing);
    clearInterval(heartbeat);
    stopWatching?.();
    stopWatching = undefined;
    gap = events.nextSeq;
    const all = [...known.values()];
    known.clear();
    for (const { client } of all) client[Symbol.dispose]();
  };
  /** Attends until the returned function is called. */
  const use = (): (() => void) => {
    clearTimeout(closing);
    users += 1;
    if (!stopWatching) {
      stopWatching = machine.watch(() => void look());
      heartbeat = setInterval(beat, HEARTBEAT_MS).unref();
      void look();
    }
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      users -= 1;
      if (users === 0) closing = setTimeout(close, LINGER_MS).unref();
    };
  };
  const find = async (id: string): Promise<ControlClient> => {
    const leaveAgain = use();
    try {
      if (!known.has(id)) await within(LIST_MS, look());
      const found = known.get(id);
      if (found) return found.client;
      throw new ToolError("NOT_FOUND", `process ${id} is not running any more`, { id });
    } finally {
      leaveAgain();
    }
  };
  return {
    events,
    use,
    /** Whether events after this number may be missing, because nobody looked at the processes for a while. */
    hasGapAfter: (seq: number): boolean => seq < gap,
    /** The running processes, oldest first, and the number of an event that they are not older than. */
    async list(): Promise<ProcessList> {
      const leaveAgain = use();
      const seq = events.nextSeq - 1;
      try {
        await within(LIST_MS, look());
        const answering = [...known.values()].filter(({ state }) => state?.state !== "silent");
        await within(LIST_MS, Promise.all(answering.map(refresh)));
        const processes = [...known.values()]
          .flatMap(({ state }) => state ?? [])
          .sort((a, b) => (a.started_at < b.started_at ? -1 : 1));
        return { processes, seq };
      } finally {
        leaveAgain();
      }
    },
    async call(id: string, request: ControlCall, signal: AbortSignal): Promise<ControlCallAnswer> {
      const leaveAgain = use();
      try {
        return await (await find(id)).call(request, signal);
      } finally {
        leaveAgain();
      }
    },
    async answer(id: string, ...answer: Parameters<ControlClient["answer"]>): Promise<void> {
      await (await find(id)).answer(...answer);
    },
    close,
  };
}

/** Events that concern the person only. */
const NOBODY = "";

interface Attended {
  readonly id: string;
  readonly client: ControlClient;
  state: OctantProcess | undefined;
  json: string;
  isDirty: boolean;
  /** How many requests for its state are unanswered. */
  asked: number;
}

/** Waits for the work, but not longer. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const enough = new AbortController();
  const late = sleep(ms, undefined, { signal: enough.signal }).catch(() => {});
  await Promise.race([work, late]);
  enough.abort();
}

const isLate = (cause: unknown): boolean => cause instanceof ToolError && cause.code === "TIMEOUT";

/** A process that does not answer, with what was last known of it. */
const toSilent = ({ id, state }: Attended): OctantProcess => ({
  ...(state ?? { ...UNKNOWN, id, pid: Number.parseInt(id, 10) }),
  state: "silent",
});

/** Of a process that has never answered. It takes no calls. */
const UNKNOWN = {
  ...{ version: "", command: "process", started_at: "" },
  ...{ roots: [], clients: [], tools: [], running_calls: 0, sessions: [], questions: [] },
};

const toProcess =
  (id: string) =>
  (status: ProcessStatus): OctantProcess => ({
    id,
    ...status,
    // The board of that process lists its questions in this shape.
    questions: status.questions as OctantProcess["questions"],
  });
