// Started as a thread of its own by transform.ts; it works on what would hold up the server.
import { parentPort, workerData } from "node:worker_threads";
import { perform, type Work } from "./work.ts";

// transform.ts is the only one who starts it, with exactly this.
parentPort?.postMessage(perform(workerData as Work));
