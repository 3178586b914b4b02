// The thread that runs the model, which would otherwise block the server.
import { parentPort, workerData } from "node:worker_threads";
import { answerCalls } from "../engine/thread.ts";
import { loadOnnxModel } from "./onnx-model.ts";

export interface OnnxThreadData {
  readonly folder: string;
}

// `createOnnxEmbedder` passes exactly this type.
const { folder } = workerData as OnnxThreadData;
const calls = { ...(await loadOnnxModel(folder)) };
export type OnnxCalls = typeof calls;

if (parentPort) answerCalls(parentPort, calls);
