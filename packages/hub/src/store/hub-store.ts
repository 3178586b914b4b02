import { ToolError } from "@octant/core";
import { z } from "zod";
import type { Peers } from "../peers/peers.ts";

/** A stored thing of the hub: a project, a session, a schedule. */
export interface HubRecord {
  readonly id: string;
  /** The project that it belongs to; absent for projects and for what concerns all of them. */
  readonly project_id?: string | undefined;
  /** Unique among the records of its kind and project. */
  readonly name?: string | undefined;
  /** ISO 8601. */
  readonly created_at: string;
}

export interface RecordFilter {
  readonly project_id?: string | undefined;
  /** Only those whose ids begin with this. */
  readonly id_prefix?: string | undefined;
  /** At most this many. */
  readonly limit?: number | undefined;
}

/** The records of one kind. Several hubs may share them, so every change is made on the stored state. */
export interface Records<T extends HubRecord> {
  get(id: string): Promise<T | undefined>;
  /** Newest first. */
  list(filter?: RecordFilter): Promise<readonly T[]>;
  /** Throws ALREADY_EXISTS when another one of its project has this name. */
  add(record: T): Promise<void>;
  /** Replaces the record by what `change` makes of it, atomically; undefined when there is none. */
  change(id: string, change: (record: T) => T): Promise<T | undefined>;
  /** False when there is none. */
  remove(id: string): Promise<boolean>;
}

/** An event of a session as the log stores it; `seq` counts from 1 without gaps. */
export interface LoggedEvent {
  readonly seq: number;
}

/** The events of sessions, each session in its own order. */
export interface EventLog {
  /** Resolves when the event is durable. Throws CONFLICT when its number is not the next one: another hub wrote it. */
  append(log_id: string, event: LoggedEvent): Promise<void>;
  /** Events after this number, oldest first. */
  read(log_id: string, after: number, limit: number): Promise<readonly LoggedEvent[]>;
  /** The number of the last event; 0 when there is none. */
  last(log_id: string): Promise<number>;
  ids(): Promise<readonly string[]>;
  remove(log_id: string): Promise<void>;
  /**
   * Calls `listener` when a log grows, also by another hub; without an id when any log may have grown unnoticed, such
   * as after a lost connection.
   */
  watch(listener: (log_id: string | undefined) => void): Promise<AsyncDisposable>;
}

/** A name that one holder has for a limited time, such as the right to run a schedule. */
export interface Leases {
  /** Takes or renews it; false while another holder has it. */
  take(name: string, holder: string, ms: number): Promise<boolean>;
  release(name: string, holder: string): Promise<void>;
}

/**
 * The state of a hub: in SQLite for one hub, in PostgreSQL for several. `testing/hub-store-contract.ts` tests every
 * adapter.
 */
export interface HubStore {
  records<T extends HubRecord>(kind: RecordKind): Records<T>;
  readonly events: EventLog;
  readonly leases: Leases;
  /** The hubs that share it; absent where only one hub at a time can use it. */
  readonly peers?: Peers;
  /** Everything but leases in one consistent state, while others write. */
  dump(): AsyncIterable<DumpRow>;
  /** Fills an empty store with what `dump` gave; all of it or nothing. */
  load(rows: AsyncIterable<DumpRow>): Promise<void>;
  close(): Promise<void>;
}

const RECORD_KINDS = [
  "project",
  "container",
  "session",
  "workspace",
  "repository",
  "token",
  "schedule",
  "schedule_run",
  "webhook",
  "webhook_delivery",
] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** Records of these kinds are written only by the hub that has their project. */
export const OWNED_KINDS: ReadonlySet<RecordKind> = new Set([
  "container",
  "session",
  "workspace",
  "repository",
  "schedule",
  "schedule_run",
]);

const Stored = z.looseObject({ id: z.string(), created_at: z.string() });
/** A record or an event outside of a store. */
export const DumpRow = z.union([
  z.object({ kind: z.enum(RECORD_KINDS), record: Stored }),
  z.object({ log_id: z.string(), event: z.looseObject({ seq: z.int() }) }),
]);
export type DumpRow =
  | { readonly kind: RecordKind; readonly record: HubRecord }
  | { readonly log_id: string; readonly event: LoggedEvent };

/** Throws when a store that is to be filled has records. */
export function refuseFull(records: number): void {
  if (records === 0) return;
  throw new ToolError("ALREADY_EXISTS", "the hub's state is not empty; restore into an empty one", {
    uri: "hub",
  });
}
