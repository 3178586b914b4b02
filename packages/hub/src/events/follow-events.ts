import type { StampedEvent } from "@octant/agent";
import type { HubLogs } from "../sessions/session-logs.ts";

const PAGE = 200;

/**
 * The events of a session after a number: those that exist, then each new one. A reader takes the next page when it has
 * dealt with the last, so nothing is stored for it; recent events come from memory that all readers share.
 */
export async function* followEvents(
  logs: Pick<HubLogs, "grown" | "readAfter">,
  id: string,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<readonly StampedEvent[]> {
  for (let after = since; !signal.aborted; ) {
    // Begun before reading, so that an event in between is not missed.
    const waiting = new AbortController();
    const grown = logs.grown(id, AbortSignal.any([signal, waiting.signal]));
    const events = await logs.readAfter(id, after, PAGE);
    if (events.length === 0) await grown;
    waiting.abort();
    if (signal.aborted) return;
    if (events.length > 0) yield events;
    after = events.at(-1)?.seq ?? after;
  }
}
