import type { ConsoleEvent } from "../../src/api.ts";

export type Connection = "connecting" | "live" | "lost";

interface Batch {
  readonly events: readonly ConsoleEvent[];
  readonly lost?: number;
}

interface Options {
  onEvents(events: readonly ConsoleEvent[]): void;
  /** Something may have been missed: read again. */
  onGap(): void;
  onState(state: Connection): void;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;

/** Follows the events of all processes, and continues after a lost connection where it stopped. */
export function followEvents({ onEvents, onGap, onState }: Options): Disposable {
  let source: EventSource | undefined;
  let last: string | undefined;
  let delay = FIRST_DELAY_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    source = new EventSource(`/console/api/events${last === undefined ? "" : `?after=${last}`}`);
    source.onopen = () => {
      delay = FIRST_DELAY_MS;
      onState("live");
    };
    source.onmessage = ({ data, lastEventId }) => {
      if (lastEventId !== "") last = lastEventId;
      // Our own server, as `EventBatch` declares.
      const { events, lost } = JSON.parse(data) as Batch;
      if (events.length > 0) onEvents(events);
      if (lost || events.length === 0) onGap();
    };
    source.onerror = () => {
      onState("lost");
      // The browser reconnects by itself unless the server refused.
      if (source?.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(open, delay);
      delay = Math.min(delay * 2, MAX_DELAY_MS);
    };
  };
  open();
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
      source?.close();
    },
  };
}
