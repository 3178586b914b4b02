import type { EventStore, SessionInfo, SessionLogs, StampedEvent } from "@octant/agent";
import { ToolError } from "@octant/core";
import type { EventLog } from "../store/hub-store.ts";

const PAGE = 500;
/** Events of an open session that its readers share; a slower reader reads the store. */
const MAX_TAIL = 512;

export type HubLogs = Awaited<ReturnType<typeof createHubLogs>>;

/**
 * The logs of sessions in the hub's store, and a signal to readers when one grows. `isSure`: nobody else can have written
 * to the logs that are open here.
 */
export async function createHubLogs(events: EventLog, isSure: () => boolean = () => true) {
  const open = new Set<string>();
  const waiting = new Map<string, Set<() => void>>();
  const summaries = new Map<string, { readonly seq: number; readonly info: SessionInfo }>();
  const wake = (id: string) => {
    for (const go of waiting.get(id) ?? []) go();
    waiting.delete(id);
  };
  const watching = await events.watch((grown) => {
    // Those of this hub wake their readers once they are in the tail.
    const others = grown === undefined ? [...waiting.keys()] : [grown];
    for (const id of others) if (!tails.has(id) || !isSure()) wake(id);
  });
  /** The last events of the sessions that this hub writes. */
  const tails = new Map<string, StampedEvent[]>();
  const readAfter = async (id: string, after: number, limit: number): Promise<readonly StampedEvent[]> => {
    const tail = isSure() ? tails.get(id) : undefined;
    const first = tail?.[0]?.seq;
    if (tail && first !== undefined && after >= first - 1) {
      const from = after - first + 1;
      return tail.slice(from, Math.min(tail.length, from + limit));
    }
    // Only sessions write to these logs.
    return (await events.read(id, after, limit)) as readonly StampedEvent[];
  };
  const lock = (id: string) => {
    if (open.has(id)) throw new ToolError("LOCKED", `session ${id} is open`, {});
    open.add(id);
  };
  const logs: SessionLogs = {
    ids: async () => (await events.ids()).toSorted().toReversed(),
    has: async (id) => (tails.get(id)?.length ?? 0) > 0 || (await events.last(id)) > 0,
    async *read(id) {
      for (let after = 0; ; ) {
        const page = await readAfter(id, after, PAGE);
        yield* page;
        after = page.at(-1)?.seq ?? after;
        if (page.length < PAGE) return;
      }
    },
    async open(id): Promise<EventStore> {
      lock(id);
      const tail: StampedEvent[] = [];
      tails.set(id, tail);
      return {
        async append(event) {
          await events.append(id, event);
          tail.push(event);
          if (tail.length > MAX_TAIL) tail.shift();
          wake(id);
        },
        async close() {
          tails.delete(id);
          open.delete(id);
          // Another hub may have written meanwhile.
          wake(id);
        },
      };
    },
    async remove(id) {
      lock(id);
      try {
        await events.remove(id);
      } finally {
        open.delete(id);
      }
    },
    async summary(id, make) {
      const seq = await events.last(id);
      const cached = summaries.get(id);
      if (cached?.seq === seq) return cached.info;
      const info = await make();
      summaries.set(id, { seq, info });
      return info;
    },
  };
  return {
    logs,
    readAfter,
    last: (id: string) => events.last(id),
    /** Resolves when an event is added to the log, or at the signal. */
    grown(id: string, signal: AbortSignal): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const all = waiting.get(id) ?? new Set();
      waiting.set(id, all.add(resolve));
      const leave = () => {
        all.delete(resolve);
        resolve();
      };
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave, { once: true });
      return promise.finally(() => signal.removeEventListener("abort", leave));
    },
    [Symbol.asyncDispose]: () => watching[Symbol.asyncDispose](),
  };
}
