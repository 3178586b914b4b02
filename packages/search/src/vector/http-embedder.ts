import { ToolError } from "@octant/core";
import { z } from "zod";
import { cutText, type Embedder, NO_PREFIXES, type Prefixes } from "./embedder.ts";
import { normalise } from "./vector-store.ts";

export interface HttpEmbedderOptions {
  /** openai: any compatible endpoint, up to `/v1`. ollama: the address of the server. */
  readonly api: "openai" | "ollama";
  readonly url: string;
  readonly model: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller's fetch, which enforces the caller's network rules. */
  readonly fetch: typeof fetch;
  readonly prefixes?: Prefixes;
}

const Vector = z.array(z.number()).min(1);
const ANSWERS = {
  openai: z.object({ data: z.array(z.object({ index: z.int(), embedding: Vector })) }),
  ollama: z.object({ embeddings: z.array(Vector) }),
} as const;
const PATHS = { openai: "/embeddings", ollama: "/api/embed" } as const;
const TIMEOUT_MS = 60_000;

/** A model behind an endpoint that is compatible with OpenAI's or Ollama's. */
export function createHttpEmbedder(options: HttpEmbedderOptions): Embedder {
  const { api, url, model, headers = {}, prefixes = NO_PREFIXES } = options;
  return {
    id: `${api}:${model}`,
    async embed(texts, role, signal) {
      if (texts.length === 0) return [];
      const input = texts.map((text) => cutText(prefixes[role] + text));
      const response = await send(options, `${url.replace(/\/+$/, "")}${PATHS[api]}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ model, input }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      const vectors = vectorsIn(api, await response.json());
      if (vectors?.length !== texts.length)
        throw failed(model, `it gave ${vectors?.length ?? "no"} vectors for ${texts.length} texts`);
      return vectors.map((vector) => normalise(Float32Array.from(vector)));
    },
    close: async () => {},
  };
}

async function send(
  { fetch, model }: HttpEmbedderOptions,
  url: string,
  init: RequestInit,
): Promise<Response> {
  const response = await fetch(url, init).catch((cause: unknown) => {
    // The caller's own cancellation passes through unchanged.
    if (init.signal?.aborted && !isTimeout(init.signal.reason)) throw init.signal.reason;
    throw failed(model, "it could not be reached", cause);
  });
  if (!response.ok) throw failed(model, `it answered with status ${response.status}`);
  return response;
}

const isTimeout = (reason: unknown) => reason instanceof DOMException && reason.name === "TimeoutError";

function vectorsIn(api: HttpEmbedderOptions["api"], answer: unknown): number[][] | undefined {
  if (api === "ollama") return ANSWERS.ollama.safeParse(answer).data?.embeddings;
  const { data } = ANSWERS.openai.safeParse(answer);
  return data?.data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding);
}

const failed = (model: string, what: string, cause?: unknown) =>
  new ToolError(
    "UPSTREAM_ERROR",
    `the embedding model '${model}' cannot be used: ${what}; check its address and name, or search with modality text`,
    {},
    { cause },
  );
