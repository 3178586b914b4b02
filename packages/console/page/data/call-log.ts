import type { CallRow } from "../../src/api.ts";

/** A call of any process. */
export interface LiveCall extends CallRow {
  readonly process: string;
}

export const MAX_CALLS = 100_000;
/** Forgotten at once, so that a full log is not shifted with every call. */
const FORGET = 10_000;
/** Processes report their calls in batches, so rows of different processes may be out of order by this much. */
const LATE_MS = 1_000;

/** The calls of all processes since the page was opened, oldest first. */
export class CallLog {
  #rows: LiveCall[] = [];
  /** Where a running call is, counted over all rows ever. */
  readonly #running = new Map<string, number>();
  #forgotten = 0;
  /** Prepended rows; their numbers are negative. */
  #older = 0;
  skipped = 0;
  /** Grows when rows got other numbers, because a late one was put between them. */
  moved = 0;

  get rows(): readonly LiveCall[] {
    return this.#rows;
  }

  /** How many calls were ever added. */
  get seen(): number {
    return this.end + this.#older;
  }

  /** The number of the row after the newest. */
  get end(): number {
    return this.#forgotten + this.#rows.length;
  }

  /** The number of the oldest row. */
  get begin(): number {
    return this.#forgotten;
  }

  at(number: number): LiveCall | undefined {
    return this.#rows[number - this.#forgotten];
  }

  add(call: LiveCall): void {
    const key = keyOf(call);
    const known = this.#running.get(key);
    if (call.code !== undefined) this.#running.delete(key);
    if (known !== undefined && known >= this.#forgotten) {
      this.#rows[known - this.#forgotten] = call;
      return;
    }
    const index = this.#placeOf(call);
    if (index < this.#rows.length) this.#makeRoom(index);
    if (call.code === undefined) this.#running.set(key, this.#forgotten + index);
    this.#rows.splice(index, 0, call);
    if (this.#rows.length > MAX_CALLS) this.#forget();
  }

  /** Adds calls from before those that the page has seen, and leaves out duplicates. Each process lists its own. */
  prepend(calls: readonly LiveCall[]): void {
    const known = new Set(this.#rows.map(keyOf));
    const byKey = new Map(calls.filter((call) => !known.has(keyOf(call))).map((call) => [keyOf(call), call]));
    this.#rows = [...byKey.values(), ...this.#rows].sort((a, b) => a.started_at - b.started_at);
    this.#forgotten -= byKey.size;
    this.#older += byKey.size;
    this.moved += 1;
    this.#running.clear();
    for (const [index, call] of this.#rows.entries())
      if (call.code === undefined) this.#running.set(keyOf(call), this.#forgotten + index);
  }

  /** At the end, or before the calls that started well after it: a process may be connected later than others. */
  #placeOf({ started_at }: LiveCall): number {
    let index = this.#rows.length;
    while (index > 0 && this.#rows[index - 1]!.started_at > started_at + LATE_MS) index -= 1;
    return index;
  }

  #makeRoom(index: number): void {
    this.moved += 1;
    for (const [key, number] of this.#running)
      if (number >= this.#forgotten + index) this.#running.set(key, number + 1);
  }

  #forget(): void {
    this.#rows = this.#rows.slice(FORGET);
    this.#forgotten += FORGET;
    for (const [key, number] of this.#running) if (number < this.#forgotten) this.#running.delete(key);
  }
}

const keyOf = ({ process, trace_id }: LiveCall): string => `${process} ${trace_id}`;

export interface CallFilter {
  readonly text: string;
  readonly status: string;
  readonly process: string;
}

export function matches(call: LiveCall, { text, status, process }: CallFilter): boolean {
  if (process && call.process !== process) return false;
  if (status === "failed" && (call.code === undefined || call.code === "OK")) return false;
  if (status === "running" && call.code !== undefined) return false;
  if (text === "") return true;
  const words =
    `${call.tool}.${call.action} ${call.caller} ${call.subject ?? ""} ${call.code ?? "running"} ${call.trace_id}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => words.includes(word));
}

/** The numbers of the matching rows, newest last; reads only rows that are new or have changed. */
export class FilteredCalls {
  readonly #log: CallLog;
  #filter: CallFilter = { text: "", status: "", process: "" };
  #numbers: number[] = [];
  #running: number[] = [];
  #read = Number.NEGATIVE_INFINITY;
  #oldest = 0;
  #moved = 0;

  constructor(log: CallLog) {
    this.#log = log;
  }

  /** Rows from `until` on are left out: the view is paused there. */
  numbers(filter: CallFilter, until = this.#log.end): readonly number[] {
    const { text, status, process } = this.#filter;
    const { begin, end, moved } = this.#log;
    const isOther = text !== filter.text || status !== filter.status || process !== filter.process;
    if (isOther || begin < this.#oldest || moved !== this.#moved) {
      this.#numbers = [];
      this.#running = [];
      this.#read = Number.NEGATIVE_INFINITY;
      this.#filter = filter;
    }
    this.#oldest = begin;
    this.#moved = moved;
    if (this.#numbers.length > 0 && this.#numbers[0]! < begin)
      this.#numbers = this.#numbers.filter((number) => number >= begin);
    this.#lookAgain();
    for (let number = Math.max(this.#read, begin); number < end; number++) {
      const call = this.#log.at(number)!;
      if (matches(call, filter)) this.#numbers.push(number);
      if (call.code === undefined) this.#running.push(number);
    }
    this.#read = end;
    return until >= end ? this.#numbers : this.#numbers.filter((number) => number < until);
  }

  /** Running calls that have ended meanwhile may match now, or no longer. */
  #lookAgain(): void {
    const ended = this.#running.filter((number) => this.#log.at(number)?.code !== undefined);
    if (ended.length === 0) return;
    this.#running = this.#running.filter((number) => this.#log.at(number)?.code === undefined);
    const changed = new Set(ended);
    const kept = this.#numbers.filter((number) => !changed.has(number));
    const fitting = ended.filter((number) => matches(this.#log.at(number)!, this.#filter));
    this.#numbers = [...kept, ...fitting].sort((a, b) => a - b);
  }
}
