import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { normalise } from "./vector-store.ts";

/** The part of `onnxruntime-node` that we use; loaded on demand. */
interface OnnxRuntime {
  readonly InferenceSession: {
    create(file: string, options: { intraOpNumThreads: number; logSeverityLevel: 3 }): Promise<OnnxSession>;
  };
  readonly Tensor: new (type: "int64", data: BigInt64Array, dims: readonly number[]) => object;
}
interface OnnxSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Record<string, object>, fetches: readonly string[]): Promise<Record<string, OnnxOutput>>;
}
interface OnnxOutput {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: unknown;
}

/** The part of `@huggingface/tokenizers` that we use. */
interface Tokenizers {
  readonly Tokenizer: new (tokenizer: object, config: object) => Tokenizer;
}
interface Tokenizer {
  encode(text: string): { readonly ids: readonly number[] };
}

export const ONNX_RUNTIME: string = "onnxruntime-node";
export const TOKENIZERS: string = "@huggingface/tokenizers";
export const TOKENIZER_FILE = "tokenizer.json";
const MODEL_FILES = ["model.onnx", join("onnx", "model.onnx")];
/** The output of models that pool their own tokens. */
const POOLED = "sentence_embedding";
/** More would take processor time that the user may need. */
const MAX_THREADS = 2;
/** The usual limit of such models, where the folder does not state one. */
const DEFAULT_MAX_TOKENS = 512;

const Settings = z.object({
  max_position_embeddings: z.int().positive().optional(),
  max_seq_length: z.int().positive().optional(),
  pooling_mode_cls_token: z.boolean().optional(),
});

/** The model file in the folder, if there is one. */
export const modelFileIn = (folder: string): string | undefined =>
  MODEL_FILES.map((name) => join(folder, name)).find((file) => existsSync(file));

export type OnnxCalls = Pick<Awaited<ReturnType<typeof loadOnnxModel>>, "place">;

/**
 * A local sentence model, as exported from Hugging Face by sentence-transformers and Optimum. Blocks the calling thread
 * while it computes.
 */
export async function loadOnnxModel(folder: string) {
  // The types are missing when they are not installed; these are the documented parts that we use.
  const runtime = (await import(ONNX_RUNTIME)) as OnnxRuntime;
  const { Tokenizer } = (await import(TOKENIZERS)) as Tokenizers;
  const tokenizer = new Tokenizer(
    readJson(folder, TOKENIZER_FILE) ?? {},
    readJson(folder, "tokenizer_config.json") ?? {},
  );
  const session = await runtime.InferenceSession.create(modelFileIn(folder) ?? folder, {
    intraOpNumThreads: Math.min(MAX_THREADS, availableParallelism()),
    logSeverityLevel: 3,
  });
  const output = session.outputNames.includes(POOLED) ? POOLED : (session.outputNames[0] ?? POOLED);
  const maxTokens = maxTokensIn(folder);
  const isByFirstToken = settingsIn(folder, join("1_Pooling", "config.json")).pooling_mode_cls_token === true;

  return {
    // One text at a time: without a graphics card a batch is hardly faster, and it is padded to its longest
    // text.
    async place(text: string): Promise<Float32Array> {
      const ids = cut(tokenizer.encode(text).ids, maxTokens);
      const answer = await session.run(feedsFor(runtime, session.inputNames, ids), [output]);
      const { values, rows } = floatsOf(answer[output]);
      return normalise(isByFirstToken ? values.slice(0, values.length / rows) : meanRow(values, rows));
    },
  };
}

/** The end token stays when the text is truncated. */
const cut = (ids: readonly number[], max: number): readonly number[] =>
  ids.length > max ? [...ids.slice(0, max - 1), ...ids.slice(-1)] : ids;

function feedsFor({ Tensor }: OnnxRuntime, names: readonly string[], ids: readonly number[]) {
  const values: Readonly<Record<string, (id: number, at: number) => number>> = {
    input_ids: (id) => id,
    attention_mask: () => 1,
    token_type_ids: () => 0,
    position_ids: (_, at) => at,
  };
  const feeds = names.map((name) => {
    const value = values[name];
    if (!value) throw new Error(`it requires the input '${name}', which sentence models do not have`);
    const data = BigInt64Array.from(ids, (id, at) => BigInt(value(id, at)));
    return [name, new Tensor("int64", data, [1, ids.length])] as const;
  });
  return Object.fromEntries(feeds);
}

/** One row per token, or a single row when the model has pooled them. */
function floatsOf(output: OnnxOutput | undefined): { values: Float32Array; rows: number } {
  if (!(output?.data instanceof Float32Array) || output.dims.length < 2)
    throw new Error(`it gives ${output?.type ?? "nothing"} of ${output?.dims.length ?? 0} dimensions`);
  return { values: output.data, rows: output.dims.length === 2 ? 1 : (output.dims[1] ?? 1) };
}

function meanRow(values: Float32Array, rows: number): Float32Array {
  const width = values.length / rows;
  const mean = new Float32Array(width);
  for (let at = 0; at < values.length; at++) {
    const column = at % width;
    mean[column] = (mean[column] ?? 0) + (values[at] ?? 0) / rows;
  }
  return mean;
}

function maxTokensIn(folder: string): number {
  const { max_seq_length } = settingsIn(folder, "sentence_bert_config.json");
  const { max_position_embeddings = DEFAULT_MAX_TOKENS } = settingsIn(folder, "config.json");
  return Math.min(max_seq_length ?? max_position_embeddings, max_position_embeddings);
}

const settingsIn = (folder: string, name: string): z.output<typeof Settings> =>
  Settings.parse(readJson(folder, name) ?? {});

function readJson(folder: string, name: string): object | undefined {
  const file = join(folder, name);
  return existsSync(file) ? z.looseObject({}).parse(JSON.parse(readFileSync(file, "utf8"))) : undefined;
}
