import { extname } from "node:path";
import { type MessagePort, type ResourceLimits, Worker } from "node:worker_threads";
import { errcodeOf } from "./index-fault.ts";

/** The methods of a thread. */
// biome-ignore lint/suspicious/noExplicitAny: only `any` holds functions of every kind; callers see the real types.
type Methods = Readonly<Record<string, (...args: any[]) => unknown>>;

interface Request {
  readonly number: number;
  readonly name: string;
  readonly args: readonly unknown[];
}
type Response = { readonly number: number } & (
  | { readonly value: unknown }
  // A cloned error keeps only its message, so the code of an SQLite error is sent beside it.
  | { readonly failure: Error; readonly errcode: number | undefined }
);

/** A worker thread that answers calls. */
export interface Thread<M extends Methods> {
  call<K extends keyof M & string>(name: K, ...args: Parameters<M[K]>): Promise<Awaited<ReturnType<M[K]>>>;
  /** Resolves when it runs or has ended. */
  readonly started: Promise<void>;
  readonly hasEnded: boolean;
  /** The processor time it has used so far, also while it is busy. */
  cpuMs(): Promise<number>;
  close(): Promise<void>;
}

/** Starts `<name>-entry` next to the file with the given URL; it must call `answerCalls`. */
export function startThread<M extends Methods>(
  name: string,
  url: string,
  workerData: unknown,
  resourceLimits: ResourceLimits = {},
): Thread<M> {
  const worker = new Worker(new URL(`./${name}-entry${extname(url)}`, url), { workerData, resourceLimits });
  // An idle thread must not keep the process alive.
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
      // The remote method has this type; the message does not carry it.
      return call.promise as ReturnType<Thread<M>["call"]>;
    },
    started: started.promise,
    get hasEnded() {
      return ended !== undefined;
    },
    async cpuMs() {
      // Node before 24.6 cannot report it; use wall-clock time instead.
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

/**
 * The thread's side. Calls start in the order they arrive and may overlap while they wait. Bytes are
 * transferred, not copied.
 */
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
