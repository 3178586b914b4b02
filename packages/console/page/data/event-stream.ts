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

/** What the tab with the connection tells the others. */
type Message =
  | { readonly type: "batch"; readonly data: string; readonly id: string }
  | { readonly type: "state"; readonly state: Connection }
  | { readonly type: "hello" };

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;
const NAME = "octant-console-events";

/**
 * Follows the events of all processes, and continues after a lost connection where it stopped. A browser opens only
 * six connections to a server, so one tab has the connection and passes the events on; when it is closed, another
 * tab takes over.
 */
export function followEvents({ onEvents, onGap, onState }: Options): Disposable {
  const channel = new BroadcastChannel(NAME);
  const ended = new AbortController();
  let last: string | undefined;
  const take = (data: string, id: string) => {
    if (id !== "") last = id;
    // Our own server, as `EventBatch` declares.
    const { events, lost } = JSON.parse(data) as Batch;
    if (events.length > 0) onEvents(events);
    if (lost || events.length === 0) onGap();
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.type === "batch") take(data.data, data.id);
    if (data.type === "state") onState(data.state);
  };
  // The first reading does not wait for a connection of its own.
  onGap();
  channel.postMessage({ type: "hello" } satisfies Message);
  navigator.locks
    .request(NAME, { signal: ended.signal }, () => {
      const tell = (message: Message) => channel.postMessage(message);
      let state: Connection = "connecting";
      channel.onmessage = ({ data }: MessageEvent<Message>) => {
        if (data.type === "hello") tell({ type: "state", state });
      };
      return connect(
        () => last,
        ended.signal,
        (data, id) => {
          take(data, id);
          tell({ type: "batch", data, id });
        },
        (next) => {
          state = next;
          onState(next);
          tell({ type: "state", state });
        },
      );
    })
    .catch((cause: unknown) => {
      if (!ended.signal.aborted) throw cause;
    });
  return {
    [Symbol.dispose]() {
      ended.abort();
      channel.close();
    },
  };
}

/** Resolves when the signal aborts. */
function connect(
  lastId: () => string | undefined,
  signal: AbortSignal,
  onBatch: (data: string, id: string) => void,
  onState: (state: Connection) => void,
): Promise<void> {
  let source: EventSource | undefined;
  let delay = FIRST_DELAY_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    const last = lastId();
    source = new EventSource(`/console/api/events${last === undefined ? "" : `?after=${last}`}`);
    source.onopen = () => {
      delay = FIRST_DELAY_MS;
      onState("live");
    };
    source.onmessage = ({ data, lastEventId }) => onBatch(data, lastEventId);
    source.onerror = () => {
      onState("lost");
      // The browser reconnects by itself unless the server refused.
      if (source?.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(open, delay);
      delay = Math.min(delay * 2, MAX_DELAY_MS);
    };
  };
  open();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      source?.close();
      resolve();
    });
  });
}
