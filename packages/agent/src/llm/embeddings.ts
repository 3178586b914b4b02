import { ToolError } from "@octant/core";
import { z } from "zod";
import type { ClientOptions, ProviderName } from "../providers/providers.ts";
import type { Embedding } from "./models.ts";

const TIMEOUT_MS = 60_000;
const MAX_SHOWN_CHARS = 300;

const Vector = z.array(z.number()).min(1);
const OpenAi = z.object({
  data: z.array(z.object({ index: z.int(), embedding: Vector })),
  usage: z.object({ prompt_tokens: z.int() }).optional(),
});
const Gemini = z.object({ embeddings: z.array(z.object({ values: Vector })) });

type Answer = Pick<Embedding, "input_tokens"> & { readonly vectors: readonly (readonly number[])[] };

interface Form {
  path(model: string): string;
  body(model: string, texts: readonly string[]): unknown;
  read(answer: unknown): Answer;
}

const openAi: Form = {
  path: () => "/embeddings",
  body: (model, input) => ({ model, input, encoding_format: "float" }),
  read(answer) {
    const { data, usage } = OpenAi.parse(answer);
    const vectors = data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding);
    return { vectors, input_tokens: usage?.prompt_tokens ?? null };
  },
};

const gemini: Form = {
  path: (model) => `/v1beta/models/${encodeURIComponent(model)}:batchEmbedContents`,
  body: (model, texts) => ({
    requests: texts.map((text) => ({ model: `models/${model}`, content: { parts: [{ text }] } })),
  }),
  read: (answer) => ({
    vectors: Gemini.parse(answer).embeddings.map(({ values }) => values),
    input_tokens: null,
  }),
};

const FORMS: Readonly<Record<ProviderName, Form | undefined>> = {
  hanzo: openAi,
  openai: openAi,
  "openai-chat": openAi,
  gemini,
  anthropic: undefined,
};

/** Embeddings from a provider that has a model for them. */
export async function embedTexts(
  { provider, model, base_url = "", credentials }: ClientOptions,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Embedding> {
  const form = FORMS[provider];
  if (!form)
    throw new ToolError(
      "UNSUPPORTED",
      `${provider} has no embedding models; name a model of another provider`,
      {
        what: `embeddings of ${provider}`,
        how: "such as openai/text-embedding-3-small, or no model for the local table of words",
      },
    );
  const failed = (what: string, cause?: unknown) =>
    new ToolError("UPSTREAM_ERROR", `${provider} did not embed with '${model}': ${what}`, {}, { cause });
  const response = await fetch(`${base_url.replace(/\/+$/, "")}${form.path(model)}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(await credentials.headers(false)) },
    body: JSON.stringify(form.body(model, texts)),
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    // A redirect would send the key to another host.
    redirect: "error",
  }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw failed("it could not be reached", cause);
  });
  if (response.status === 401 || response.status === 403)
    throw new ToolError(
      "UNAUTHENTICATED",
      `${provider} refused the credentials; octant login ${provider}`,
      {},
    );
  if (!response.ok)
    throw failed(`status ${response.status}: ${(await messageOf(response)).slice(0, MAX_SHOWN_CHARS)}`);
  try {
    const { vectors, input_tokens } = form.read(await response.json());
    if (vectors.length !== texts.length) throw failed(`${vectors.length} vectors for ${texts.length} texts`);
    return { provider, model, vectors: vectors.map(toUnit), input_tokens };
  } catch (cause) {
    throw cause instanceof ToolError ? cause : failed("its answer has an unexpected format", cause);
  }
}

const Failure = z.object({ error: z.object({ message: z.string() }) });

/** The provider's own message; the whole body could repeat our input. */
async function messageOf(response: Response): Promise<string> {
  const { data } = Failure.safeParse(await response.json().catch(() => undefined));
  return data?.error.message ?? "";
}

function toUnit(vector: readonly number[]): Float32Array {
  const length = Math.hypot(...vector) || 1;
  return Float32Array.from(vector, (value) => value / length);
}
