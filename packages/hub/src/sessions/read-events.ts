import type { StampedEvent } from "@octant/agent";
import type { Context } from "@octant/core";
import { followEvents } from "../events/follow-events.ts";
import type { HubSessions } from "./hub-sessions.ts";
import type { HubLogs } from "./session-logs.ts";

export interface EventRange {
  readonly since_index: number;
  readonly max_events: number;
  /** Milliseconds. */
  readonly wait: number;
}

/** Another hub may run the session, whose end this one does not hear of. */
const LOOK_MS = 1_000;

/** The events after an index; waits for the first one. */
export async function readOrWait(
  logs: HubLogs,
  id: string,
  { since_index, max_events, wait }: EventRange,
  signal: AbortSignal,
): Promise<readonly StampedEvent[]> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(wait)]);
  for (;;) {
    // Begun before reading, so that an event in between is not missed.
    const grown = logs.grown(id, until);
    const events = await logs.readAfter(id, since_index, max_events);
    if (events.length > 0 || until.aborted) return events;
    await grown;
    signal.throwIfAborted();
  }
}

/** The events after an index until the session's work is done; each is reported as it comes. */
export async function readUntilIdle(
  { logs, sessions }: { readonly logs: HubLogs; readonly sessions: Pick<HubSessions, "find" | "settled"> },
  id: string,
  { since_index, max_events, wait }: EventRange,
  { signal, progress }: Pick<Context, "signal" | "progress">,
): Promise<readonly StampedEvent[]> {
  const done = new AbortController();
  const until = AbortSignal.any([signal, done.signal, AbortSignal.timeout(wait)]);
  const watch = async () => {
    while (!until.aborted) {
      const look = AbortSignal.any([until, AbortSignal.timeout(LOOK_MS)]);
      const settled = sessions.settled(id, look);
      if ((await sessions.find(id)).state !== "working") return done.abort();
      await settled;
    }
  };
  // A session that is deleted meanwhile has no more events.
  const watching = watch().catch(() => done.abort());
  const events: StampedEvent[] = [];
  for await (const page of followEvents(logs, id, since_index, until)) {
    for (const event of page) progress({ progress: event.seq, message: describe(event) });
    events.push(...page);
    if (events.length >= max_events) break;
  }
  done.abort();
  await watching;
  signal.throwIfAborted();
  // The last ones came before the state that ended the wait.
  const last = events.at(-1)?.seq ?? since_index;
  if (events.length < max_events)
    events.push(...(await logs.readAfter(id, last, max_events - events.length)));
  return events.slice(0, max_events);
}

/** One line for people: what the event is, without texts of the session. */
function describe(event: StampedEvent): string {
  const name = "name" in event && typeof event.name === "string" ? ` ${event.name}` : "";
  return `${event.seq} ${event.type}${name}`;
}
