import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { type ErrorCode, ToolError } from "@octant/core";
import { type SharedImports, sharedImports } from "../shared-imports.ts";
import type { STREAMS, WORKS } from "./works.ts";

type Works = typeof WORKS;
type Streams = typeof STREAMS;
type Input<W> = W extends (input: infer I) => unknown ? I : never;

export interface Order {
  readonly kind: string;
  readonly input: unknown;
  readonly imports: SharedImports;
}

export type Message =
  | { readonly kind: "part"; readonly part: unknown }
  | { readonly kind: "done"; readonly value: unknown }
  | { readonly kind: "refused"; readonly code: ErrorCode; readonly message: string; readonly details: object }
  | { readonly kind: "failed"; readonly message: string };

/** The time for one part, or for the whole result where it comes at once. */
const MAX_MS = 30_000;
const MAX_HEAP_MB = 768;
const ENTRY = fileURLToPath(new URL(`./isolate-entry${extname(import.meta.url)}`, import.meta.url));

/** Does the work in a thread: input that makes a library loop or grow costs that thread, not the server. */
export async function isolate<K extends keyof Works>(
  kind: K,
  input: Input<Works[K]>,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<Works[K]>>> {
  using thread = openThread({ kind, input }, signal);
  const message = await thread.next();
  // Work of this kind answers with its value.
  if (message.kind === "done") return message.value as Awaited<ReturnType<Works[K]>>;
  throw toError(message);
}

type PartOf<S> = S extends AsyncGenerator<infer P> ? P : never;

/** The parts of a result, each made when it is asked for. */
export async function* isolateStream<K extends keyof Streams>(
  kind: K,
  input: Input<Streams[K]>,
  signal: AbortSignal,
): AsyncGenerator<PartOf<Awaited<ReturnType<Streams[K]>>>> {
  using thread = openThread({ kind, input }, signal);
  for (;;) {
    const message = await thread.next();
    if (message.kind === "done") return;
    if (message.kind !== "part") throw toError(message);
    // Work of this kind yields these parts.
    yield message.part as PartOf<Awaited<ReturnType<Streams[K]>>>;
    thread.go();
  }
}

function openThread(work: Omit<Order, "imports">, signal: AbortSignal) {
  signal.throwIfAborted();
  const worker = new Worker(ENTRY, {
    workerData: { ...work, imports: sharedImports() } satisfies Order,
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  let waiting = Promise.withResolvers<Message>();
  waiting.promise.catch(() => {});
  const fail = (cause: unknown) => waiting.reject(cause);
  const cancel = () => fail(signal.reason);
  signal.addEventListener("abort", cancel, { once: true });
  worker.on("message", (message: Message) => waiting.resolve(message));
  worker.on("error", (cause: NodeJS.ErrnoException) =>
    fail(cause.code === "ERR_WORKER_OUT_OF_MEMORY" ? tooMuch(MAX_HEAP_MB, "megabytes") : cause),
  );
  worker.on("exit", () => fail(new Error("the thread ended without an answer")));
  return {
    async next(): Promise<Message> {
      const timer = setTimeout(() => fail(tooMuch(MAX_MS, "milliseconds")), MAX_MS);
      return waiting.promise.finally(() => clearTimeout(timer));
    },
    go() {
      waiting = Promise.withResolvers<Message>();
      waiting.promise.catch(() => {});
      worker.postMessage("next");
    },
    [Symbol.dispose]() {
      signal.removeEventListener("abort", cancel);
      void worker.terminate();
    },
  };
}

const tooMuch = (limit: number, what: string) =>
  new ToolError("LIMIT_EXCEEDED", `this input takes more than ${limit} ${what} to process`, { limit, what });

function toError(message: Message): Error {
  // The details were made by a ToolError of the same code.
  if (message.kind === "refused")
    return new ToolError(message.code, message.message, message.details as never);

  return new Error(message.kind === "failed" ? message.message : `an unexpected message: ${message.kind}`);
}
