import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { ToolError } from "@octant/core";
import type { Work, WorkResults } from "./work.ts";

/** Below this size the work takes a few milliseconds, less than starting a thread. */
const IN_PLACE_CHARS = 64 * 1024;
const MAX_WORK_MS = 20_000;
const MAX_WORK_MEGABYTES = 512;

/** Runs small work on this thread and the rest in a worker with limits on time and memory. */
export async function transform<W extends Work>(
  work: W,
  signal: AbortSignal,
): Promise<WorkResults[W["kind"]]> {
  // The result type depends on the kind of work, which the union cannot express.
  type Result = WorkResults[W["kind"]];
  if (work.text.length > IN_PLACE_CHARS) return (await performInThread(work, signal)) as Result;
  const { perform } = await import("./work.ts");
  return perform(work) as Result;
}

function performInThread(work: Work, signal: AbortSignal): Promise<unknown> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const thread = new Worker(ENTRY, {
    workerData: work,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MAX_WORK_MEGABYTES },
  });
  const timer = setTimeout(() => reject(tooMuch("milliseconds", MAX_WORK_MS)), MAX_WORK_MS);
  const cancel = () => reject(signal.reason);
  signal.addEventListener("abort", cancel, { once: true });
  thread.on("message", resolve);
  thread.on("error", (cause: NodeJS.ErrnoException) =>
    reject(cause.code === "ERR_WORKER_OUT_OF_MEMORY" ? tooMuch("megabytes", MAX_WORK_MEGABYTES) : cause),
  );
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
    void thread.terminate();
  });
}

const ENTRY = fileURLToPath(new URL(`./net-transform-entry${extname(import.meta.url)}`, import.meta.url));

const tooMuch = (what: string, limit: number) =>
  new ToolError(
    "LIMIT_EXCEEDED",
    `the body takes more than ${limit} ${what} to convert; ask for it as text`,
    {
      limit,
      what,
    },
  );
