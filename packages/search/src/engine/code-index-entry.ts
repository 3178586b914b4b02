// The worker thread that owns the index, so that indexing never blocks the server.
import { parentPort, workerData } from "node:worker_threads";
import { openLanceStore } from "../vector/lance-store.ts";
import { openCodeIndex } from "./code-index.ts";
import type { IndexThreadData } from "./index-thread.ts";
import { answerCalls } from "./thread.ts";

// `createIndexThread` passes exactly this type.
const { file, embedder, lanceFolder } = workerData as IndexThreadData;
const openVectors = lanceFolder === undefined ? undefined : () => openLanceStore(lanceFolder);

if (parentPort) answerCalls(parentPort, openCodeIndex(file, { embedder, openVectors }));
