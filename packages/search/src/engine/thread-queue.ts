import { setTimeout as sleep } from "node:timers/promises";
import { ToolError } from "@octant/core";
import type { Methods, Thread } from "./thread.ts";

/** Several threads that share a queue of calls, each call with a deadline. */
export interface ThreadQueue<M extends Methods> {
  /** TIMEOUT when the call exceeds the deadline; LIMIT_EXCEEDED when it crashed the thread. */
  call<K extends keyof M & string>(name: K, ...args: Parameters<M[K]>): Promise<Awaited<ReturnType<M[K]>>>;
  close(): Promise<void>;
}

export interface ThreadQueueOptions<M extends Methods> {
  readonly size: number;
  start(): Thread<M>;
  /** For one call, once its thread runs. On a busy machine only the thread's own processor time counts. */
  readonly deadlineMs: number;
  /** The heap limit of each thread. */
  readonly heapBytes: number;
}

interface Job<M extends Methods> extends PromiseWithResolvers<unknown> {
  readonly name: keyof M & string;
  readonly args: readonly unknown[];
}

interface Slot<M extends Methods> {
  thread?: Thread<M> | undefined;
  isBusy: boolean;
}

/**
 * Each thread runs one call at a time, so a blocking call is known: its thread is terminated, and the calls
 * behind it continue in a fresh one.
 */
export function createThreadQueue<M extends Methods>(options: ThreadQueueOptions<M>): ThreadQueue<M> {
  const { size, start, deadlineMs, heapBytes } = options;
  const slots = Array.from({ length: size }, (): Slot<M> => ({ isBusy: false }));
  const waiting: Job<M>[] = [];
  let isClosed = false;

  const run = async (slot: Slot<M>, { name, args, resolve, reject }: Job<M>): Promise<void> => {
    const isFresh = slot.thread === undefined || slot.thread.hasEnded;
    const thread = isFresh ? start() : slot.thread!;
    slot.thread = thread;
    const answered = new AbortController();
    try {
      // The signature of `call` pairs each name with its arguments.
      const called = thread.call(name, ...(args as never));
      await Promise.race([called, thread.started]);
      const answer = await Promise.race([called, timeUp(thread, deadlineMs, answered.signal)]);
      if (answer !== TIME_UP) return resolve(answer);
      await thread.close();
      reject(new ToolError("TIMEOUT", TOO_SLOW, { after_ms: deadlineMs }));
    } catch (cause) {
      const isOverLimit = !isClosed && (thread.hasEnded || isExhaustion(cause));
      // A parser that ran out of memory or stack cannot be reused.
      if (isOverLimit) await thread.close();
      reject(
        isOverLimit ? new ToolError("LIMIT_EXCEEDED", TOO_LARGE, { limit: heapBytes }, { cause }) : cause,
      );
    } finally {
      answered.abort();
    }
  };
  const drain = async (slot: Slot<M>): Promise<void> => {
    slot.isBusy = true;
    for (let job = waiting.shift(); job; job = waiting.shift()) await run(slot, job);
    slot.isBusy = false;
  };

  return {
    call(name, ...args) {
      if (isClosed) return Promise.reject(closed());
      const job: Job<M> = { name, args, ...Promise.withResolvers<unknown>() };
      waiting.push(job);
      // Prefers a running thread to a new one.
      const free = slots.filter(({ isBusy }) => !isBusy);
      const slot = free.find(({ thread }) => thread && !thread.hasEnded) ?? free[0];
      if (slot) void drain(slot);
      // The thread replies with the result of the method.
      return job.promise as ReturnType<ThreadQueue<M>["call"]>;
    },
    async close() {
      isClosed = true;
      for (const job of waiting.splice(0)) job.reject(closed());
      await Promise.all(slots.map(({ thread }) => thread?.close()));
    },
  };
}

const TIME_UP = Symbol("time up");
/** A thread that gets no processor time at all is given up after this many deadlines. */
const MAX_DEADLINES = 12;
const MIN_WAIT_MS = 20;

/**
 * Resolves when the thread has used up its time. The first half is wall-clock time, which nearly every call
 * meets; the second half is processor time, so that a busy machine does not make a file look too hard to
 * parse.
 */
async function timeUp(
  thread: Pick<Thread<Methods>, "cpuMs">,
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
