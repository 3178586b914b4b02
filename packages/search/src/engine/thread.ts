import { extname } from "node:path";
import { type MessagePort, type ResourceLimits, Worker } from "node:worker_threads";
import { errcodeOf } from "./index-fault.ts";

/** What a thread can be asked for: names, with what they take and give. */
// biome-ignore lint/suspicious/noExplicitAny: only `any` holds functions of every kind; callers see the real types.
export type Methods = Readonly<Record<string, (...args: any[]) => unknown>>;

interface Request {
  readonly number: number;
  readonly name: string;
  readonly args: readonly unknown[];
}
type Response = { readonly number: number } & (
  | { readonly value: unknown }
  // A copied error keeps its message only, so the code of an SQLite error goes beside it.
  | { readonly failure: Error; readonly errcode: number | undefined }
);

/** A thread of our own that answers calls. */
export interface Thread<M extends Methods> {
  call<K extends keyof M & string>(name: K, ...args: Parameters<M[K]>): Promise<Awaited<ReturnType<M[K]>>>;
  /** Resolves when it runs, or has ended. */
  readonly started: Promise<void>;
  readonly hasEnded: boolean;
  /** The processor time that it has taken so far, also while it is busy. */
  cpuMs(): Promise<number>;
  close(): Promise<void>;
}

/** Starts `<name>-entry` beside the file with the given url; it must call `answerCalls`. */
export function startThread<M extends Methods>(
  name: string,
  url: string,
  workerData: unknown,
  resourceLimits: ResourceLimits = {},
): Thread<M> {
  const worker = new Worker(new URL(`./${name}-entry${extname(url)}`, url), { workerData, resourceLimits });
  // A thread that waits for work must not keep the process.
  worker.unref();
  const started = Promise.withResolvers<void>();
  worker.once("online", started.resolve);
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let calls = 0;
  let ended: Error | undefined;
  const end = (why: Error) => {
    ended ??= why;
    started.resolve();
    for (const call of waiting.values()) call.reject(ended);
    waiting.clear();
  };
  worker.on("message", (response: Response) => {
    const call = waiting.get(response.number);
    waiting.delete(response.number);
    if (waiting.size === 0) worker.unref();
    if ("failure" in response) call?.reject(withCode(response.failure, response.errcode));
    else call?.resolve(response.value);
  });
  worker.on("error", end);
  worker.on("exit", () => end(new Error(`the ${name} thread has ended`)));
  return {
    call(method, ...args) {
      if (ended) return Promise.reject(ended);
      const call = Promise.withResolvers<unknown>();
      const request: Request = { number: ++calls, name: method, args };
      waiting.set(request.number, call);
      worker.ref();
      worker.postMessage(request);
      // The method on the other side has this type; a message forgets it.
      return call.promise as ReturnType<Thread<M>["call"]>;
    },
    started: started.promise,
    get hasEnded() {
      return ended !== undefined;
    },
    async cpuMs() {
      // Node before 24.6 cannot tell; then the clock has to do.
      if (!("cpuUsage" in worker)) return performance.now();
      const { user, system } = await worker.cpuUsage();
      return (user + system) / MICROSECONDS_PER_MS;
    },
    async close() {
      end(new Error(`the ${name} thread was closed`));
      await worker.terminate();
    },
  };
}

const MICROSECONDS_PER_MS = 1_000;

/** The other side. Calls start in the order they come; one that waits lets the next one in. Bytes are handed over. */
export function answerCalls(port: MessagePort, methods: Methods): void {
  port.on("message", async ({ number, name, args }: Request) => {
    try {
      const value = await methods[name]?.(...args);
      port.postMessage(
        { number, value },
        value instanceof Uint8Array && value.buffer instanceof ArrayBuffer ? [value.buffer] : [],
      );
    } catch (cause) {
      const failure = cause instanceof Error ? cause : new Error(String(cause));
      port.postMessage({ number, failure, errcode: errcodeOf(cause) });
    }
  });
}

const withCode = (failure: Error, errcode: number | undefined): Error =>
  errcode === undefined ? failure : Object.assign(failure, { errcode });
