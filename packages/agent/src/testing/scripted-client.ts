import type { Answer, ApiClient, Model, ModelRequest, StreamEvent } from "../api-client.ts";
import { type AssistantPart, toolCallsOf } from "../messages.ts";
import { NO_USAGE } from "../usage.ts";

export const TEST_MODEL: Model = {
  id: "scripted",
  provider: "test",
  context_tokens: 100_000,
  max_output_tokens: 8_000,
  price: { input: 1, output: 10 },
  images: true,
  thinking: true,
};

/** One answer: its parts, or a function of the request. */
export type Turn =
  | readonly AssistantPart[]
  | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<StreamEvent> | readonly AssistantPart[]);

export interface ScriptedClient extends ApiClient {
  readonly requests: readonly ModelRequest[];
}

/** Plays its turns in order and records the requests. */
export function createScriptedClient(turns: readonly Turn[], model: Model = TEST_MODEL): ScriptedClient {
  const requests: ModelRequest[] = [];
  return {
    model,
    requests,
    async *send(request, signal) {
      requests.push(structuredClone(request));
      const turn = turns[requests.length - 1];
      if (!turn) throw new Error(`the script has ${turns.length} turns, and another one was asked for`);
      const made = typeof turn === "function" ? turn(request, signal) : turn;
      if (Symbol.asyncIterator in made) yield* made;
      else yield done(made);
    },
  };
}

export function done(content: readonly AssistantPart[]): Answer {
  const message = { role: "assistant", content } as const;
  const stop = toolCallsOf(message).length > 0 ? "tool_calls" : "end";
  return { type: "done", message, stop, usage: { ...NO_USAGE, input_tokens: 100, output_tokens: 10 } };
}

let calls = 0;
export const text = (words: string): AssistantPart => ({ type: "text", text: words });
export const call = (name: string, input: unknown = {}): AssistantPart => ({
  type: "tool_call",
  id: `call_${++calls}`,
  name,
  arguments: typeof input === "string" ? input : JSON.stringify(input),
});
