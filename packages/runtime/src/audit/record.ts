import type { DecisionNote, ErrorCode } from "@octant/core";
import type { ShownArguments } from "./arguments.ts";

interface CallFacts {
  /** ISO 8601: the time of the call; for a job, its end. */
  readonly time: string;
  readonly trace: string;
  readonly session: string;
  readonly caller: string;
  /** Such as fs.read. */
  readonly action: string;
}

/** A call that may change something is about to be run. */
export interface BeginEntry extends CallFacts, ShownArguments {
  readonly kind: "begin";
}

/** A call was answered, or refused. */
export interface CallEntry extends CallFacts, ShownArguments {
  readonly kind: "call";
  /** The record of its beginning, `seq@chain`. */
  readonly began?: string;
  readonly decisions: readonly DecisionNote[];
  readonly code: ErrorCode | "OK";
  /** In milliseconds. */
  readonly duration: number;
  /** The call was answered with this running job. */
  readonly job?: string;
}

/** A job that a call was answered with has ended. */
export interface JobEntry extends CallFacts {
  readonly kind: "job";
  readonly job: string;
  readonly code: ErrorCode | "OK";
  /** In milliseconds, since the start of the call. */
  readonly duration: number;
}

/** A process starts writing to the log. */
export interface OpenEntry {
  readonly kind: "open";
  readonly time: string;
  readonly pid: number;
}

/** The disk failed for so long that records of read-only calls were dropped. */
export interface LostEntry {
  readonly kind: "lost";
  readonly time: string;
  readonly records: number;
}

/** The oldest records are removed because the log reached its limit. */
export interface DroppedEntry {
  readonly kind: "dropped";
  readonly time: string;
  readonly records: number;
}

export type AuditEntry = BeginEntry | CallEntry | JobEntry | OpenEntry | LostEntry | DroppedEntry;

/** An entry with its place in the chain. */
export type AuditRecord = AuditEntry & {
  readonly seq: number;
  /** `hash` of the record before. */
  readonly prev: string;
  /** Keyed hash of this record's JSON without this member; it cannot be forged without the key. */
  readonly hash: string;
};
