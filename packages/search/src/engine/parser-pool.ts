import { setTimeout as sleep } from "node:timers/promises";
import { ToolError } from "@octant/core";
import type { ParserCalls } from "./parser-entry.ts";
import { startThread, type Thread } from "./thread.ts";
import { createUnparsableFiles } from "./unparsable-files.ts";

/** A question about one file: its path, its text, and further arguments. */
type Question = keyof ParserCalls;
type More<Q extends Question> = Parameters<ParserCalls[Q]> extends [string, string, ...infer M] ? M : never;

interface Job extends PromiseWithResolvers<unknown> {
  readonly question: Question;
  readonly text: string;
  readonly args: readonly unknown[];
}

interface Slot {
  thread?: Thread<ParserCalls>;
  /** The number of characters that its thread has parsed so far. */
  chars: number;
  isBusy: boolean;
  idle?: NodeJS.Timeout;
}

/** Files that need more are usually generated. */
const MAX_HEAP_MB = 256;
const YOUNG_HEAP_MB = 8;
/** For one file, once its thread runs. On a busy machine only the thread's own processor time counts. */
const DEADLINE_MS = 5_000;
/** Starting a parser and loading its grammars takes half a second; an idle one takes some 30 MB. */
const IDLE_MS = 20_000;
/** A thread that has parsed a project, or one large file, keeps twice the memory; it is not kept for long. */
const GROWN_CHARS = 1_000_000;
const GROWN_IDLE_MS = 250;

/**
 * Threads that parse source code, the only place where Octant does so. They start on demand and stop after a period
 * without use. Each runs one call at a time, so a blocking call is known: its thread is terminated, and the calls
 * behind it continue in a fresh one. A person's questions come before the files of the index.
 */
export class ParserPool {
  readonly #slots: readonly Slot[];
  readonly #deadlineMs: number;
  readonly #waiting: Job[] = [];
  readonly #unparsable = createUnparsableFiles();
  #isClosed = false;

  constructor(size: number, deadlineMs = DEADLINE_MS) {
    this.#slots = Array.from({ length: size }, () => ({ isBusy: false, chars: 0 }));
    this.#deadlineMs = deadlineMs;
  }

  /**
   * TIMEOUT when the file takes too long, LIMIT_EXCEEDED when it needs too much memory; the next call for the same
   * text gets that error at once.
   */
  async call<Q extends Question>(
    question: Q,
    path: string,
    text: string,
    ...more: More<Q>
  ): Promise<Awaited<ReturnType<ParserCalls[Q]>>> {
    const ask = () => this.#enqueue(question, text, [path, text, ...more]);
    // The thread replies with the result of the method.
    type Answer = Awaited<ReturnType<ParserCalls[Q]>>;
    if (question !== "structures") return (await this.#unparsable.parse(path, text, ask)) as Answer;
    // Not remembered: the pattern may be the cause of the delay.
    this.#unparsable.check(path, text);
    return (await ask()) as Answer;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of this.#waiting.splice(0)) job.reject(closed());
    await Promise.all(
      this.#slots.map(({ thread, idle }) => {
        clearTimeout(idle);
        return thread?.close();
      }),
    );
  }

  #enqueue(question: Question, text: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(closed());
    const job: Job = { question, text, args, ...Promise.withResolvers<unknown>() };
    // A person waits for the other questions.
    const first = question === "parse" ? -1 : this.#waiting.findIndex((one) => one.question === "parse");
    this.#waiting.splice(first < 0 ? this.#waiting.length : first, 0, job);
    const free = this.#slots.filter((slot) => !slot.isBusy && this.#takes(slot, question));
    // Prefers a running thread to a new one.
    const slot = free.find(({ thread }) => thread && !thread.hasEnded) ?? free[0];
    if (slot) void this.#drain(slot);
    return job.promise;
  }

  /** The first of several threads never parses for the index, where slow files would make a person wait. */
  #takes(slot: Slot, question: Question): boolean {
    return question !== "parse" || slot !== this.#slots[0] || this.#slots.length === 1;
  }

  async #drain(slot: Slot): Promise<void> {
    slot.isBusy = true;
    clearTimeout(slot.idle);
    for (let [job] = this.#waiting; job && this.#takes(slot, job.question); [job] = this.#waiting) {
      this.#waiting.shift();
      await this.#run(slot, job);
    }
    slot.isBusy = false;
    const idleMs = slot.chars < GROWN_CHARS ? IDLE_MS : GROWN_IDLE_MS;
    slot.idle = setTimeout(() => slot.thread?.close(), idleMs).unref();
  }

  async #run(slot: Slot, { question, text, args, resolve, reject }: Job): Promise<void> {
    if (!slot.thread || slot.thread.hasEnded) {
      slot.thread = startThread<ParserCalls>("parser", import.meta.url, null, {
        maxOldGenerationSizeMb: MAX_HEAP_MB,
        maxYoungGenerationSizeMb: YOUNG_HEAP_MB,
      });
      slot.chars = 0;
    }
    const { thread } = slot;
    slot.chars += text.length;
    const answered = new AbortController();
    try {
      // The signature of `call` pairs each question with its arguments.
      const called = thread.call(question, ...(args as never));
      await Promise.race([called, thread.started]);
      const answer = await Promise.race([called, timeUp(thread, this.#deadlineMs, answered.signal)]);
      if (answer !== TIME_UP) return resolve(answer);
      await thread.close();
      reject(new ToolError("TIMEOUT", TOO_SLOW, { after_ms: this.#deadlineMs }));
    } catch (cause) {
      const isOverLimit = !this.#isClosed && (thread.hasEnded || isExhaustion(cause));
      if (!isOverLimit) return reject(cause);
      // A parser that ran out of memory or stack cannot be reused.
      await thread.close();
      reject(new ToolError("LIMIT_EXCEEDED", TOO_LARGE, { limit: MAX_HEAP_MB * 1024 * 1024 }, { cause }));
    } finally {
      answered.abort();
    }
  }
}

const TIME_UP = Symbol("time up");
/** A thread that gets no processor time at all is abandoned after this many deadlines. */
const MAX_DEADLINES = 12;
const MIN_WAIT_MS = 20;

/**
 * Resolves when the thread has used up its time. The first half is wall-clock time, which nearly every call
 * meets; the second half is processor time, so that a busy machine does not make a file look too hard to
 * parse.
 */
async function timeUp(
  thread: Thread<ParserCalls>,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<typeof TIME_UP> {
  try {
    const end = performance.now() + MAX_DEADLINES * deadlineMs;
    await sleep(deadlineMs / 2, undefined, { signal });
    const before = await thread.cpuMs();
    for (let left = deadlineMs / 2; left > 0 && performance.now() < end; ) {
      await sleep(Math.max(left, MIN_WAIT_MS), undefined, { signal });
      left = deadlineMs / 2 - ((await thread.cpuMs()) - before);
    }
    return TIME_UP;
  } catch {
    // The call was answered, or the thread ended and the call fails with it.
    return new Promise<never>(() => {});
  }
}

const TOO_SLOW = "parsing this file takes too long, as with thousands of open brackets; read it with fs.read";
const TOO_LARGE = "parsing this file takes too much memory; read it with fs.read";

const isExhaustion = (cause: unknown): boolean =>
  cause instanceof Error && (cause.name === "RangeError" || cause.name === "RuntimeError");

const closed = () => new Error("the parsers were closed");
