// The thread that a model computes in, which would keep the server from answering.
import { parentPort, workerData } from "node:worker_threads";
import { answerCalls } from "../engine/thread.ts";
import { loadOnnxModel } from "./onnx-model.ts";

export interface OnnxThreadData {
  readonly folder: string;
}

// The one who starts it gives this.
const { folder } = workerData as OnnxThreadData;
const calls = { ...(await loadOnnxModel(folder)) };
export type OnnxCalls = typeof calls;

if (parentPort) answerCalls(parentPort, calls);
