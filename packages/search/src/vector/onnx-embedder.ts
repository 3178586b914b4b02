import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { ToolError } from "@octant/core";
import { startThread, type Thread } from "../engine/thread.ts";
import { cutText, type Embedder, NO_PREFIXES, type Prefixes } from "./embedder.ts";
import { modelFileIn, ONNX_RUNTIME, type OnnxCalls, TOKENIZER_FILE, TOKENIZERS } from "./onnx-model.ts";
import { requireInstalled } from "./optional-package.ts";

export interface OnnxEmbedderOptions {
  /** Contains model.onnx or onnx/model.onnx, and tokenizer.json. */
  readonly folder: string;
  readonly prefixes?: Prefixes;
}

const ID_CHARS = 12;

/** A local model. It is loaded with the first text, in its own thread. */
export function createOnnxEmbedder({ folder, prefixes = NO_PREFIXES }: OnnxEmbedderOptions): Embedder {
  let thread: Thread<OnnxCalls> | undefined;
  let isClosed = false;
  const open = (): Thread<OnnxCalls> => {
    if (thread && !thread.hasEnded) return thread;
    requireInstalled(ONNX_RUNTIME, "an ONNX model");
    requireInstalled(TOKENIZERS, "an ONNX model");
    thread = startThread<OnnxCalls>("onnx", import.meta.url, folder);
    return thread;
  };
  return {
    get id() {
      return `onnx:${basename(folder)}:${fingerprintOf(folder)}`;
    },
    async embed(texts, role, signal) {
      if (texts.length > 0) requireModel(folder);
      const vectors: Float32Array[] = [];
      // One by one, so that a question does not wait behind a whole indexing batch.
      for (const text of texts) {
        signal.throwIfAborted();
        if (isClosed) throw failed(folder, new Error("it was closed"));
        const placed = open().call("place", cutText(prefixes[role] + text));
        vectors.push(
          await placed.catch((cause: unknown) => {
            throw failed(folder, cause);
          }),
        );
      }
      return vectors;
    },
    async close() {
      isClosed = true;
      await thread?.close();
    },
  };
}

/** A different file under the same name is a different model. */
function fingerprintOf(folder: string): string {
  const model = modelFileIn(folder);
  if (model === undefined) return "missing";
  const { size, mtimeMs } = statSync(model);
  return createHash("sha256").update(`${size} ${mtimeMs}`).digest("hex").slice(0, ID_CHARS);
}

function requireModel(folder: string): void {
  const hasModel = modelFileIn(folder) !== undefined;
  if (hasModel && existsSync(join(folder, TOKENIZER_FILE))) return;
  const missing = hasModel ? TOKENIZER_FILE : "model.onnx (or onnx/model.onnx)";
  throw new ToolError(
    "UNSUPPORTED",
    `the folder '${basename(folder)}' of the embedding model has no ${missing}`,
    { what: "an ONNX model", how: "export a sentence model with its tokenizer: optimum-cli export onnx" },
  );
}

function failed(folder: string, cause: unknown): ToolError {
  const name = basename(folder);
  // The runtime's message contains the absolute path.
  const why = (cause instanceof Error ? cause.message : String(cause)).replaceAll(folder, name);
  return new ToolError(
    "UNSUPPORTED",
    `the embedding model in '${name}' cannot be used: ${why}`,
    { what: "this ONNX model", how: "give another model folder, or search with modality text" },
    { cause },
  );
}
