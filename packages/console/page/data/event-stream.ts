import type { ConsoleEvent } from "../../src/api.ts";
import { headersOf } from "./key.ts";
import { createMessageReader } from "./message-reader.ts";

export type Connection = "connecting" | "live" | "lost";

interface Batch {
  readonly events: readonly ConsoleEvent[];
  readonly lost?: number;
}

interface Options {
  onEvents(events: readonly ConsoleEvent[]): void;
  /** Events may have been missed: read everything again. */
  onGap(): void;
  onState(state: Connection): void;
}

/** The messages from the tab with the connection to the other tabs. */
type Message =
  | { readonly type: "batch"; readonly data: string; readonly id: string }
  | { readonly type: "state"; readonly state: Connection }
  | { readonly type: "hello" };

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;
/** Large batches are applied in slices, so that the page stays responsive. */
const SLICE_MS = 20;
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
async function connect(
  lastId: () => string | undefined,
  signal: AbortSignal,
  onBatch: (data: string, id: string) => void,
  onState: (state: Connection) => void,
): Promise<void> {
  let delay = FIRST_DELAY_MS;
  const onOpen = () => {
    delay = FIRST_DELAY_MS;
    onState("live");
  };
  while (!signal.aborted) {
    await readStream(lastId(), signal, onOpen, onBatch).catch(() => {});
    if (signal.aborted) return;
    onState("lost");
    await pause(delay, signal);
    delay = Math.min(delay * 2, MAX_DELAY_MS);
  }
}

/** Reads one response to its end. An EventSource could not send the key of the page. */
async function readStream(
  last: string | undefined,
  signal: AbortSignal,
  onOpen: () => void,
  onBatch: (data: string, id: string) => void,
): Promise<void> {
  const headers = { ...headersOf(), ...(last !== undefined && { "last-event-id": last }) };
  const { ok, body } = await fetch("/console/api/events", { headers, signal, cache: "no-store" });
  if (!ok || !body) return;
  onOpen();
  const read = createMessageReader();
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    let until = performance.now() + SLICE_MS;
    for (const { data, id } of read(value)) {
      if (performance.now() > until) {
        await pause(0, signal);
        until = performance.now() + SLICE_MS;
      }
      if (signal.aborted) return;
      onBatch(data, id);
    }
    // Without a break here, buffered chunks would be read without one.
    await pause(0, signal);
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
