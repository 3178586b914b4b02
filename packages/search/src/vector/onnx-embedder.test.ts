import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test as everyTest, expect, inject } from "vitest";
import { type OnnxFolderOptions, writeOnnxFolder } from "../../testing/vector/onnx-folder.ts";
import type { Embedder } from "./embedder.ts";
import { createOnnxEmbedder, type OnnxEmbedderOptions } from "./onnx-embedder.ts";

const test = everyTest.skipIf(inject("missing").includes("onnxruntime-node"));

let folder: string;
const opened: Embedder[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-onnx-"));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((embedder) => embedder.close()));
  rmSync(folder, { recursive: true });
});

const WORDS = {
  rain: [1, 0, 0],
  storm: [0, 1, 0],
  "##y": [0, 0, 1],
  question: [0, 0, 5],
  passage: [0, 5, 0],
};
const never = () => new AbortController().signal;
const open = (options: Partial<OnnxEmbedderOptions> = {}): Embedder => {
  const embedder = createOnnxEmbedder({ folder, ...options });
  opened.push(embedder);
  return embedder;
};
const place = async (text: string, model: Omit<OnnxFolderOptions, "words"> = {}) => {
  writeOnnxFolder(folder, { words: WORDS, ...model });
  const [vector] = await open().embed([text], "passage", never());
  return [...(vector ?? [])].map((value) => Math.round(value * 1_000) / 1_000);
};

test("a text's vector is the mean of its tokens, of length one, in the order of the texts", async () => {
  writeOnnxFolder(folder, { words: WORDS });
  const vectors = await open().embed(["Rain storm", "rainy!", ""], "passage", never());
  const half = Math.SQRT1_2;
  expect(vectors.map((vector) => [...vector])).toEqual([
    [expect.closeTo(half), expect.closeTo(half), 0],
    [expect.closeTo(half), 0, expect.closeTo(half)],
    [0, 0, 0],
  ]);
});

test("a model that pools its own output, in its own folder and without token types, is supported", async () => {
  const model = { isPooled: true, modelFile: "onnx/model.onnx", inputs: ["input_ids", "attention_mask"] };
  expect(await place("storm", model)).toEqual([0, 1, 0]);
});

test("a model trained on its first token is pooled by that token", async () => {
  const files = { "1_Pooling/config.json": { pooling_mode_cls_token: true } };
  expect(await place("storm", { files })).toEqual([0, 0, 0]);
});

test("a text is truncated to the model's limit and keeps its end token", async () => {
  const files = {
    "config.json": { max_position_embeddings: 512 },
    "sentence_bert_config.json": { max_seq_length: 3 },
  };
  expect(await place("rain storm storm storm", { files })).toEqual([1, 0, 0]);
});

test("questions and passages get their prefixes", async () => {
  writeOnnxFolder(folder, { words: WORDS });
  const embedder = open({ prefixes: { question: "question ", passage: "passage " } });
  const [asked] = await embedder.embed(["rain"], "question", never());
  const [told] = await embedder.embed(["rain"], "passage", never());
  expect(asked?.[2]).toBeGreaterThan(0.9);
  expect(told?.[1]).toBeGreaterThan(0.9);
});

test("another model in the same folder has another id", () => {
  writeOnnxFolder(folder, { words: WORDS });
  const before = open().id;
  expect(open().id).toBe(before);
  writeOnnxFolder(folder, { words: { ...WORDS, more: [1, 1, 1] } });
  expect(open().id).not.toBe(before);
});

test("a missing file or an invalid model is reported without the path", async () => {
  const embed = () => open().embed(["rain"], "question", never());
  await expect(embed()).rejects.toMatchObject({
    code: "UNSUPPORTED",
    message: expect.stringContaining("model.onnx"),
  });
  writeFileSync(join(folder, "model.onnx"), "no model");
  await expect(embed()).rejects.toMatchObject({ message: expect.stringContaining("tokenizer.json") });
  writeOnnxFolder(folder, { words: WORDS });
  writeFileSync(join(folder, "model.onnx"), "no model");
  await expect(embed()).rejects.toMatchObject({
    code: "UNSUPPORTED",
    message: expect.not.stringContaining(tmpdir()),
  });
  writeOnnxFolder(folder, { words: WORDS, inputs: ["input_ids", "pixel_values"] });
  await expect(embed()).rejects.toThrow("pixel_values");
});

test("a cancellation passes through unchanged, and a closed embedder says that it is closed", async () => {
  writeOnnxFolder(folder, { words: WORDS });
  const embedder = open();
  const reason = new Error("enough");
  await expect(embedder.embed(["rain"], "question", AbortSignal.abort(reason))).rejects.toBe(reason);
  await embedder.close();
  await expect(embedder.embed(["rain"], "question", never())).rejects.toThrow("it was closed");
});
