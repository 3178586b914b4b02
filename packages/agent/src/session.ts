import { createLedger, type Ledger } from "./compaction/ledger.ts";
import { type Conversation, createConversation } from "./conversation.ts";
import type { AgentEvent, LiveEvent, StampedEvent, StoredEvent } from "./events.ts";

/** Stores the events of a session. */
export interface EventStore {
  /** Resolves when the event is durable. */
  append(event: StampedEvent): Promise<void>;
  close(): Promise<void>;
}

/** Stores nothing: for tests, and for sessions that end with their process. */
export const memoryStore: EventStore = { append: async () => {}, close: async () => {} };

export type EventListener = (event: AgentEvent) => void;

/** One conversation, its log, and its listeners. */
export interface Session {
  readonly id: string;
  readonly conversation: Conversation;
  readonly ledger: Ledger;
  /** Stores the event, then notifies the listeners. Events are stored in call order. */
  append(event: StoredEvent): Promise<StampedEvent>;
  publish(event: LiveEvent): void;
  subscribe(listener: EventListener): () => void;
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly id: string;
  readonly store?: EventStore;
  /** The existing events of the log. */
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
