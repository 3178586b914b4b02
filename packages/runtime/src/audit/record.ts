import type { DecisionNote, ErrorCode } from "@octant/core";
import type { ToldArguments } from "./arguments.ts";

interface CallFacts {
  /** ISO 8601: when the call was made; of a job, when it ended. */
  readonly time: string;
  readonly trace: string;
  readonly session: string;
  readonly caller: string;
  /** Such as fs.read. */
  readonly action: string;
}

/** A call that may change something is about to be run. */
export interface BeginEntry extends CallFacts, ToldArguments {
  readonly kind: "begin";
}

/** A call was answered, or refused. */
export interface CallEntry extends CallFacts, ToldArguments {
  readonly kind: "call";
  /** The record of its beginning, `seq@chain`. */
  readonly began?: string;
  readonly decisions: readonly DecisionNote[];
  readonly code: ErrorCode | "OK";
  /** In milliseconds. */
  readonly duration: number;
  /** What was answered is that this job goes on. */
  readonly job?: string;
}

/** A job that a call was answered with has come to its end. */
export interface JobEntry extends CallFacts {
  readonly kind: "job";
  readonly job: string;
  readonly code: ErrorCode | "OK";
  /** In milliseconds, since the call was made. */
  readonly duration: number;
}

/** A process goes on with a chain. The others and how far they had come are told, so that none of them can vanish. */
export interface OpenEntry {
  readonly kind: "open";
  readonly time: string;
  readonly pid: number;
  readonly chains: Readonly<Record<string, number>>;
}

/** A writer was killed while it wrote: these beginnings of lines are left of it. */
export interface TornEntry {
  readonly kind: "torn";
  readonly time: string;
  readonly pieces: readonly TornPiece[];
}

export interface TornPiece {
  readonly part: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** The disk took nothing for so long that records of calls which only look had to be given up. */
export interface LostEntry {
  readonly kind: "lost";
  readonly time: string;
  readonly records: number;
}

/** The oldest parts of a chain are let go, since the log is as long as it may be. */
export interface DroppedEntry {
  readonly kind: "dropped";
  readonly time: string;
  readonly chain: string;
  /** From the first to the last. */
  readonly parts: readonly [number, number];
  readonly records: number;
}

export type AuditEntry = BeginEntry | CallEntry | JobEntry | OpenEntry | TornEntry | LostEntry | DroppedEntry;

/** An entry with its place in the chain. */
export type AuditRecord = AuditEntry & {
  readonly seq: number;
  /** `hash` of the record before. */
  readonly prev: string;
  /** Of this line without this member, keyed: nobody without the key can make or change one. */
  readonly hash: string;
};
