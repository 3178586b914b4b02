// Writes ONNX files that the real runtime loads, with the few onnx.proto messages that a small graph needs.

export interface OnnxGraph {
  readonly inputs: readonly string[];
  /** One row per token. */
  readonly table: readonly (readonly number[])[];
  /** Whether the model also outputs the mean of all tokens. */
  readonly isPooled: boolean;
}

const FLOAT = 1;
const INT64 = 7;

/** A model that looks up each token in a table. */
export function encodeOnnxModel({ inputs, table, isPooled }: OnnxGraph): Uint8Array {
  const width = table[0]?.length ?? 0;
  const rows = { name: "last_hidden_state", type: FLOAT, dims: ["batch", "tokens", width] };
  const mean = { name: "sentence_embedding", type: FLOAT, dims: ["batch", width] };
  const graph = [
    message(1, nodeOf("Gather", ["table", "input_ids"], rows.name, [])),
    ...(isPooled
      ? [
          message(
            1,
            nodeOf("ReduceMean", [rows.name], mean.name, [intsOf("axes", [1]), intOf("keepdims", 0)]),
          ),
        ]
      : []),
    text(2, "lookup"),
    message(5, tensorOf("table", [table.length, width], table.flat())),
    ...inputs.map((name) => message(11, valueInfoOf({ name, type: INT64, dims: ["batch", "tokens"] }))),
    ...(isPooled ? [rows, mean] : [rows]).map((output) => message(12, valueInfoOf(output))),
  ];
  return join([number(1, 8), message(7, graph), message(8, [text(1, ""), number(2, 13)])]);
}

type Part = Uint8Array;

const nodeOf = (
  op: string,
  inputs: readonly string[],
  output: string,
  attributes: readonly Part[][],
): Part[] => [
  ...inputs.map((name) => text(1, name)),
  text(2, output),
  text(4, op),
  ...attributes.map((attribute) => message(5, attribute)),
];
const intsOf = (name: string, values: readonly number[]): Part[] => [
  text(1, name),
  ...values.map((value) => number(8, value)),
  number(20, 7),
];
const intOf = (name: string, value: number): Part[] => [text(1, name), number(3, value), number(20, 2)];
const tensorOf = (name: string, dims: readonly number[], values: readonly number[]): Part[] => [
  ...dims.map((size) => number(1, size)),
  number(2, FLOAT),
  text(8, name),
  bytes(9, new Uint8Array(Float32Array.from(values).buffer)),
];

interface Value {
  readonly name: string;
  readonly type: number;
  readonly dims: readonly (string | number)[];
}
const valueInfoOf = ({ name, type, dims }: Value): Part[] => {
  const shape = dims.map((dim) => message(1, [typeof dim === "string" ? text(2, dim) : number(1, dim)]));
  return [text(1, name), message(2, [message(1, [number(1, type), message(2, shape)])])];
};

const VARINT = 0;
const LENGTH = 2;

const number = (field: number, value: number): Part =>
  Uint8Array.from([...varint((field << 3) | VARINT), ...varint(value)]);
const bytes = (field: number, content: Uint8Array): Part =>
  join([Uint8Array.from([...varint((field << 3) | LENGTH), ...varint(content.length)]), content]);
const text = (field: number, content: string): Part => bytes(field, new TextEncoder().encode(content));
const message = (field: number, parts: readonly Part[]): Part => bytes(field, join(parts));
const join = (parts: readonly Part[]): Part => new Uint8Array(Buffer.concat(parts));

function varint(value: number): number[] {
  const digits: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...digits, rest];
    digits.push((rest % 128) | 128);
  }
}
