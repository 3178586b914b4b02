import { type ErrorCode, ToolError } from "@octant/core";
import { z } from "zod";
import type { ApiClient, StreamEvent } from "../api-client.ts";
import { ApiError, type ApiFailure } from "../api-error.ts";
import { textOf, textParts } from "../messages.ts";
import { costOf, Usage } from "../usage.ts";

/** Models for tools: the same providers, credentials and prices as the agent's own. */
export interface Models {
  /** Such as `gpt-5.1` or `anthropic/claude-sonnet-4-5`; the one in the settings when absent. */
  client(model?: string): Promise<ApiClient>;
  /** Without a model, uses the bundled word table. */
  embed(texts: readonly string[], model: string | undefined, signal: AbortSignal): Promise<Embedding>;
  /** Counts towards the caller's session, even when nobody waits for the answer any more. */
  spend(caller: string, spent: Pick<ModelAnswer, "usage" | "cost">): Promise<void>;
  /** Stores bytes and returns a ref for them. */
  store(bytes: Uint8Array): string;
}

export interface Embedding {
  readonly provider: string;
  readonly model: string;
  /** Of length one. */
  readonly vectors: readonly Float32Array[];
  /** null when the provider does not report it. */
  readonly input_tokens: number | null;
}

const MAX_PROMPT_CHARS = 400_000;

export const Question = z.strictObject({
  prompt: z.string().min(1).max(MAX_PROMPT_CHARS),
  system: z.string().max(MAX_PROMPT_CHARS).optional(),
  max_output_tokens: z.int().min(1).optional(),
  output_schema: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("JSON Schema that the answer must match; text is then JSON"),
});
type Question = z.output<typeof Question>;

export const ModelName = z
  .string()
  .min(1)
  .max(200)
  .describe("Such as gpt-5.1 or anthropic/claude-sonnet-4-5; the one of the settings when absent");

export const Spending = {
  usage: Usage,
  cost: z.number().nullable().describe("US dollars; null when not known"),
};

export const ModelAnswer = z.object({
  provider: z.string(),
  model: z.string(),
  text: z.string(),
  stop: z.string().describe("end, or why it ended early"),
  ...Spending,
});
export type ModelAnswer = z.output<typeof ModelAnswer>;

/** One question, one answer. Provider failures become ToolErrors. */
export async function askModel(
  client: ApiClient,
  { prompt, system = "", max_output_tokens, output_schema }: Question,
  signal: AbortSignal,
  onEvent: (event: StreamEvent) => void = () => {},
): Promise<ModelAnswer> {
  const request = {
    system,
    tools: [],
    messages: [{ role: "user", origin: "person", content: textParts(prompt) }] as const,
    ...(max_output_tokens !== undefined && { max_output_tokens }),
    ...(output_schema && { output_schema }),
  };
  const { id: model, provider, price } = client.model;
  try {
    for await (const event of client.send(request, signal)) {
      onEvent(event);
      if (event.type !== "done") continue;
      const { message, stop, usage } = event;
      return { provider, model, text: textOf(message.content), stop, usage, cost: costOf(usage, price) };
    }
  } catch (cause) {
    throw cause instanceof ApiError ? toToolError(cause) : cause;
  }
  throw new ToolError("UPSTREAM_ERROR", `${provider} ended the stream before the answer was complete`, {});
}

const CODES: Readonly<Partial<Record<ApiFailure, ErrorCode>>> = {
  auth: "UNAUTHENTICATED",
  rate_limit: "OVERLOADED",
  overloaded: "OVERLOADED",
};
const RETRY_MS = 10_000;

function toToolError(cause: ApiError): ToolError {
  const code = CODES[cause.failure] ?? "UPSTREAM_ERROR";
  if (code === "OVERLOADED")
    return new ToolError(code, cause.message, { retry_after_ms: cause.retryAfterMs ?? RETRY_MS }, { cause });
  return new ToolError(code === "UNAUTHENTICATED" ? code : "UPSTREAM_ERROR", cause.message, {}, { cause });
}
