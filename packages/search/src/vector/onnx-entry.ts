// The thread that runs the model, which would otherwise block the server.
import { parentPort, workerData } from "node:worker_threads";
import { answerCalls } from "../engine/thread.ts";
import { loadOnnxModel } from "./onnx-model.ts";

// `createOnnxEmbedder` passes the folder.
if (parentPort) answerCalls(parentPort, await loadOnnxModel(workerData as string));
