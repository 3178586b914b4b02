// The thread that holds the index: nothing it does keeps the server from answering.
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
  /** Where LanceDB keeps vectors; undefined for the embedded store. */
  readonly lanceFolder: string | undefined;
}

// The one who starts it gives these.
const { file, embedder, fusion, lanceFolder } = workerData as IndexThreadData;
const index = openCodeIndex(file, {
  ...{ embedder, fusion },
  openVectors: lanceFolder === undefined ? undefined : () => openLanceStore(lanceFolder),
});

const calls = {
  ...index,
  /** Each file as the parser wrote it. */
  putAll: (files: readonly Uint8Array[]): Promise<void> => index.put(files.map(decodeFile)),
} satisfies CodeIndex & Record<string, unknown>;
/** What the index can be asked for from another thread. */
export type IndexCalls = typeof calls;

if (parentPort) answerCalls(parentPort, calls);
