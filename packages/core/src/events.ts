/** What a job tells while it runs. A stream starts, has chunks and ends; every event has the next number. */
export type StreamChunk =
  | {
      readonly kind: "progress";
      readonly progress: number;
      readonly total?: number;
      readonly message?: string;
    }
  | { readonly kind: "log"; readonly line: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly bytes: Uint8Array };

export type StreamEvent =
  | { readonly type: "start" }
  | { readonly type: "chunk"; readonly chunk: StreamChunk }
  | { readonly type: "end"; readonly state: "complete" | "failed" | "cancelled" };

export type JobEvent = StreamEvent & { readonly seq: number; readonly job_id: string };

export interface EventPage {
  readonly events: readonly JobEvent[];
  /** Go on from here. */
  readonly next_seq: number;
  /** How many events between the asked-for place and the first one given were dropped: a slow reader's loss. */
  readonly dropped: number;
  /** The asked-for place is none of this log's: its number is from before a restart, and what came after it is gone. */
  readonly restarted: boolean;
}

/** Events of all jobs, in order, kept up to a limit. A reader that is too slow loses the oldest, and is told how many. */
export interface EventLog {
  publish(job_id: string, event: StreamEvent): JobEvent;
  /** What the next event will have. */
  readonly nextSeq: number;
  /** Events from `seq` on, of one job or of all; 0 is the beginning of what there is. */
  read(seq: number, job_id?: string): EventPage;
  /** Called for every event from now on; a listener must not wait. */
  subscribe(listener: (event: JobEvent) => void): () => void;
}

const MAX_EVENTS = 16_384;
const MAX_BYTES = 8 * 1024 * 1024;
/** More than a server tells in a millisecond, so that the numbers of one that starts later are all greater. */
const SEQS_PER_MS = 1_024;

export interface EventLogOptions {
  /** In milliseconds: numbers grow from restart to restart. Without it they begin at 1. */
  readonly startedAt?: number;
  readonly maxEvents?: number;
  readonly maxBytes?: number;
}

export function createEventLog(options: EventLogOptions = {}): EventLog {
  const { startedAt = 0, maxEvents = MAX_EVENTS, maxBytes = MAX_BYTES } = options;
  const firstSeq = startedAt * SEQS_PER_MS + 1;
  const kept: JobEvent[] = [];
  const listeners = new Set<(event: JobEvent) => void>();
  let first = 0;
  let nextSeq = firstSeq;
  let bytes = 0;

  const drop = () => {
    bytes -= sizeOf(kept[first] as JobEvent);
    first += 1;
    // Cutting the dead front off now and then keeps dropping cheap.
    if (first > maxEvents) {
      kept.splice(0, first);
      first = 0;
    }
  };

  return {
    publish(job_id, event) {
      const numbered: JobEvent = { ...event, job_id, seq: nextSeq++ };
      kept.push(numbered);
      bytes += sizeOf(numbered);
      while (kept.length - first > maxEvents || (bytes > maxBytes && kept.length - first > 1)) drop();
      for (const listener of listeners) listener(numbered);
      return numbered;
    },
    get nextSeq() {
      return nextSeq;
    },
    read(seq, job_id) {
      // A clock that was set back makes old numbers greater than ours.
      const restarted = seq > nextSeq || (seq > 0 && seq < firstSeq);
      const wanted = restarted ? firstSeq : Math.max(seq, firstSeq);
      const oldest = kept[first]?.seq ?? nextSeq;
      const from = first + Math.max(0, wanted - oldest);
      const events = kept.slice(from).filter((event) => job_id === undefined || event.job_id === job_id);
      return { events, next_seq: nextSeq, dropped: Math.max(0, oldest - wanted), restarted };
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const EVENT_OVERHEAD_BYTES = 64;

function sizeOf(event: JobEvent): number {
  if (event.type !== "chunk") return EVENT_OVERHEAD_BYTES;
  const { chunk } = event;
  if (chunk.kind === "binary") return EVENT_OVERHEAD_BYTES + chunk.bytes.byteLength;
  const text = chunk.kind === "log" ? chunk.line : chunk.kind === "text" ? chunk.text : (chunk.message ?? "");
  return EVENT_OVERHEAD_BYTES + text.length * 2;
}
