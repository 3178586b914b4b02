// The thread started by transform.ts for work that would block the server.
import { parentPort, workerData } from "node:worker_threads";
import { perform, type Work } from "./work.ts";

// transform.ts passes exactly this type.
parentPort?.postMessage(perform(workerData as Work));
