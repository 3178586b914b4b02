import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { encodeOnnxModel } from "./onnx-file.ts";

/** The vector of each word. */
export type Words = Readonly<Record<string, readonly number[]>>;

export interface OnnxFolderOptions {
  readonly words: Words;
  readonly inputs?: readonly string[];
  readonly isPooled?: boolean;
  readonly modelFile?: string;
  /** Additional files in the folder. */
  readonly files?: Readonly<Record<string, unknown>>;
}

const BERT_INPUTS = ["input_ids", "attention_mask", "token_type_ids"];
const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] as const;

/** A model folder as Hugging Face provides it, with a vocabulary of a few words. */
export function writeOnnxFolder(folder: string, options: OnnxFolderOptions): void {
  const { words, inputs = BERT_INPUTS, isPooled = false, modelFile = "model.onnx", files = {} } = options;
  const width = Object.values(words)[0]?.length ?? 0;
  const nowhere = Array.from({ length: width }, () => 0);
  const table = [...SPECIAL.map(() => nowhere), ...Object.values(words)];
  const write = (name: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
  write(modelFile, encodeOnnxModel({ inputs, table, isPooled }));
  write("tokenizer.json", JSON.stringify(tokenizerOf(Object.keys(words))));
  for (const [name, content] of Object.entries(files)) write(name, JSON.stringify(content));
}

function tokenizerOf(words: readonly string[]): object {
  const vocab = Object.fromEntries([...SPECIAL, ...words].map((word, id) => [word, id]));
  const special = (content: (typeof SPECIAL)[number]) => ({
    [content]: { id: content, ids: [vocab[content]], tokens: [content] },
  });
  const token = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content) => ({
      id: vocab[content],
      content,
      special: true,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    })),
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "TemplateProcessing",
      single: [token("[CLS]"), { Sequence: { id: "A", type_id: 0 } }, token("[SEP]")],
      pair: [],
      special_tokens: { ...special("[CLS]"), ...special("[SEP]") },
    },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab,
    },
  };
}
