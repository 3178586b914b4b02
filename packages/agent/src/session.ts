import { createLedger, type Ledger } from "./compaction/ledger.ts";
import { type Conversation, createConversation } from "./conversation.ts";
import type { AgentEvent, LiveEvent, StampedEvent, StoredEvent } from "./events.ts";

/** Where the events of a session are kept. */
export interface EventStore {
  /** Comes back when the event is safe. */
  append(event: StampedEvent): Promise<void>;
  close(): Promise<void>;
}

/** Keeps nothing: for tests, and for what does not outlive its process. */
export const memoryStore: EventStore = { append: async () => {}, close: async () => {} };

export type EventListener = (event: AgentEvent) => void;

/** One conversation, its log, and those who listen to it. */
export interface Session {
  readonly id: string;
  readonly conversation: Conversation;
  readonly ledger: Ledger;
  /** Stores the event, then tells the listeners. Events are stored in the order of the calls. */
  append(event: StoredEvent): Promise<StampedEvent>;
  publish(event: LiveEvent): void;
  subscribe(listener: EventListener): () => void;
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly id: string;
  readonly store?: EventStore;
  /** What the log holds already. */
  readonly events?: Iterable<StampedEvent>;
  readonly now?: () => Date;
}

export function createSession(options: SessionOptions): Session {
  const { id, store = memoryStore, events = [], now = () => new Date() } = options;
  const conversation = createConversation();
  const ledger = createLedger();
  const listeners = new Set<EventListener>();
  let seq = 0;
  for (const event of events) {
    conversation.apply(event);
    ledger.apply(event);
    seq = event.seq;
  }
  let last: Promise<unknown> = Promise.resolve();

  const emit = (event: AgentEvent) => {
    for (const listener of listeners) listener(event);
  };
  const appendNext = async (event: StoredEvent): Promise<StampedEvent> => {
    const stamped = { seq: seq + 1, session_id: id, at: now().toISOString(), ...event };
    await store.append(stamped);
    seq = stamped.seq;
    conversation.apply(stamped);
    ledger.apply(stamped);
    emit(stamped);
    return stamped;
  };
  return {
    id,
    conversation,
    ledger,
    append(event) {
      const next = last.then(() => appendNext(event));
      last = next.catch(() => {});
      return next;
    },
    publish: (event) => emit({ seq, session_id: id, at: now().toISOString(), ...event }),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      await last;
      await store.close();
    },
  };
}
