// A thread that holds the signatures of files, and compares them with the disk for every search.
import { parentPort } from "node:worker_threads";
import { createTrigramCalls, type TrigramCalls } from "./trigram-thread.ts";

const calls = createTrigramCalls();

parentPort?.on("message", async ({ number, name, args }) => {
  try {
    // The other side pairs each name with its arguments.
    const call = calls[name as keyof TrigramCalls] as (...args: unknown[]) => unknown;
    parentPort?.postMessage({ number, value: await call(...args) });
  } catch (failure) {
    parentPort?.postMessage({ number, failure });
  }
});
