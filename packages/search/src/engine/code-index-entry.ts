// The worker thread that owns the index, so that indexing never blocks the server.
import { parentPort, workerData } from "node:worker_threads";
import { openLanceStore } from "../vector/lance-store.ts";
import type { Fusion } from "./chunk-ranker.ts";
import { type CodeIndex, openCodeIndex } from "./code-index.ts";
import { decodeFile } from "./packed-file.ts";
import { answerCalls } from "./thread.ts";

export interface IndexThreadData {
  readonly file: string;
  readonly embedder: string | undefined;
  readonly fusion: Fusion;
  /** The folder of LanceDB; undefined for the embedded store. */
  readonly lanceFolder: string | undefined;
}

// `createIndexThread` passes exactly this type.
const { file, embedder, fusion, lanceFolder } = workerData as IndexThreadData;
const index = openCodeIndex(file, {
  ...{ embedder, fusion },
  openVectors: lanceFolder === undefined ? undefined : () => openLanceStore(lanceFolder),
});

const calls = {
  ...index,
  /** Each file as encoded by the parser. */
  putAll: (files: readonly Uint8Array[]): Promise<void> => index.put(files.map(decodeFile)),
} satisfies CodeIndex & Record<string, unknown>;
/** The methods that other threads can call. */
export type IndexCalls = typeof calls;

if (parentPort) answerCalls(parentPort, calls);
