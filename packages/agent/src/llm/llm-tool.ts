import { type ActionText, action, type Context, defineTool, ToolError } from "@octant/core";
import { z } from "zod";
import { createOutputSchema, type OutputSchema } from "../context/output-schema.ts";
import { Consensus, ConsensusRequest, findConsensus } from "./consensus.ts";
import { askModel, ModelAnswer, ModelName, type Models, Question } from "./models.ts";

const MAX_TEXTS = 256;
const MAX_TEXT_CHARS = 32_000;
/** The limit of numbers in an answer; more are behind the ref. */
const MAX_INLINE_NUMBERS = 2_500;
const MAX_COMPARED = 16;
const DIGITS = 6;

/** All actions ask a model. */
const ASKING = {
  access: "write",
  timing: "async_medium",
  intent: "verify",
  openWorld: true,
  ownCheckpoints: true,
  parallel: true,
  errors: ["UNAUTHENTICATED", "UPSTREAM_ERROR", "OVERLOADED", "UNSUPPORTED"],
} as const;
const QueryInput = Question.extend({ model: ModelName.optional() });

/** Models as tools. The cost of a call is in its answer, and counts towards the calling session. */
export const llmTool = (open: () => Promise<Models>) => {
  const ask = async (
    { model, ...asked }: z.output<typeof QueryInput>,
    { caller, signal, emit, backend }: Context,
    isStreamed: boolean,
  ) => {
    const schema = asked.output_schema && usableSchema(asked.output_schema);
    const models = await open();
    const client = await models.client(model);
    backend(client.model.provider);
    const prompt = `${asked.prompt}${schema?.instruction ?? ""}`;
    const answer = await askModel(client, { ...asked, prompt }, signal, (event) => {
      if (isStreamed && event.type === "text_delta") emit({ kind: "text", text: event.text });
    });
    await models.spend(caller.id, answer);
    return schema ? { ...answer, text: checked(answer, schema) } : answer;
  };
  return defineTool({
    name: "llm",
    summary: "Ask other models, compare their answers, and get embeddings.",
    listing: "on_demand",
    actions: {
      query: action({
        summary: "Ask a model one question, without tools or history.",
        ...ASKING,
        input: QueryInput,
        output: ModelAnswer,
        examples: [
          { title: "A second opinion", input: { prompt: "Is 91 a prime?" }, fails: "UNAUTHENTICATED" },
        ],
        text: answerText,
        run: (input, ctx) => ask(input, ctx, false),
      }),
      stream: action({
        summary: "Ask as query does; the text comes as it is written.",
        ...ASKING,
        input: QueryInput.omit({ output_schema: true }),
        output: ModelAnswer,
        examples: [{ title: "Follow along", input: { prompt: "Explain CRDTs." }, fails: "UNAUTHENTICATED" }],
        text: answerText,
        run: (input, ctx) => ask(input, ctx, true),
      }),
      embed: action({
        summary: "Vectors of texts; without a model from the local table of words.",
        ...ASKING,
        input: z.strictObject({
          texts: z.array(z.string().min(1).max(MAX_TEXT_CHARS)).min(1).max(MAX_TEXTS),
          model: ModelName.optional(),
        }),
        output: z.object({
          provider: z.string(),
          model: z.string(),
          dimensions: z.int(),
          vectors: z.array(z.array(z.number())).optional().describe("Where they fit; else behind ref"),
          ref: z.string().describe("All vectors as 32-bit floats, little-endian, one after the other"),
          similarities: z
            .array(z.array(z.number()))
            .optional()
            .describe("Each text with each, up to 16 texts"),
          input_tokens: z.int().nullable(),
        }),
        examples: [{ title: "How near are they?", input: { texts: ["open a file", "read from disk"] } }],
        async run({ texts, model }, { signal, backend }) {
          const models = await open();
          const { vectors, ...about } = await models.embed(texts, model, signal);
          backend(about.provider);
          const dimensions = vectors[0]?.length ?? 0;
          return {
            ...about,
            dimensions,
            ...(vectors.length * dimensions <= MAX_INLINE_NUMBERS && {
              vectors: vectors.map((vector) => Array.from(vector, rounded)),
            }),
            ref: models.store(toBytes(vectors)),
            ...(vectors.length <= MAX_COMPARED && {
              similarities: vectors.map((one) => vectors.map((other) => rounded(dot(one, other)))),
            }),
          };
        },
      }),
      consensus: action({
        summary: "Ask several models the same question, and let one say where they agree and differ.",
        ...ASKING,
        input: ConsensusRequest,
        output: Consensus,
        examples: [
          {
            title: "Two opinions",
            input: { prompt: "Tabs or spaces?", models: ["claude-sonnet-4-5", "gpt-5.1"] },
            fails: "UPSTREAM_ERROR",
          },
        ],
        text: ({ agrees, agreement, differences, answers }) => ({
          body: [
            `${agrees ? "they agree" : "they differ"}: ${agreement}`,
            ...differences.map((difference) => `- ${difference}`),
            ...answers.map((voice) => `\n## ${voice.asked}\n${"text" in voice ? voice.text : voice.error}`),
          ].join("\n"),
        }),
        run: async (request, { caller, signal }) => findConsensus(await open(), request, caller.id, signal),
      }),
    },
  });
};

function usableSchema(json: Readonly<Record<string, unknown>>): OutputSchema {
  try {
    return createOutputSchema(json);
  } catch (cause) {
    const message = `output_schema cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "output_schema", message }] });
  }
}

/** The answer as JSON that matches the schema; not every provider enforces it. */
function checked({ text, provider, model, stop }: ModelAnswer, schema: OutputSchema): string {
  const wrong = schema.check(text);
  if (wrong === undefined) return JSON.stringify(schema.parse(text));
  const why = stop === "end" ? wrong : `it ended early (${stop}); ${wrong}`;
  throw new ToolError(
    "UPSTREAM_ERROR",
    `the answer of ${provider}/${model} does not fit output_schema: ${why}`,
    {},
  );
}

const answerText = ({ text, provider, model, stop, cost }: ModelAnswer): ActionText => ({
  body: text,
  notes: [
    `${provider}/${model}`,
    stop !== "end" && `stopped: ${stop}`,
    cost !== null && `$${cost.toFixed(4)}`,
  ],
});

const rounded = (value: number): number => Number(value.toFixed(DIGITS));

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (const [at, value] of one.entries()) sum += value * (other[at] ?? 0);
  return sum;
}

function toBytes(vectors: readonly Float32Array[]): Uint8Array {
  const dimensions = vectors[0]?.length ?? 0;
  const view = new DataView(new ArrayBuffer(vectors.length * dimensions * Float32Array.BYTES_PER_ELEMENT));
  let at = 0;
  for (const vector of vectors)
    for (const value of vector) {
      view.setFloat32(at, value, true);
      at += Float32Array.BYTES_PER_ELEMENT;
    }
  return new Uint8Array(view.buffer);
}
