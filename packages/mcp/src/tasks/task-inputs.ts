import { type Answer, type CallOptions, ToolError } from "@octant/core";
import type { InputRequest, InputRequests } from "../asking/exchange.ts";
import { toAnswer, toFormParams } from "../asking/forms.ts";
import { isPlain } from "../messages.ts";

/** The questions of work that continues after its call was answered; they wait until a client answers them. */
export interface TaskInputs {
  readonly ask: NonNullable<CallOptions["ask"]>;
  pending(): InputRequests;
  /** Accepts the answers to open questions and ignores the rest. */
  answer(responses: unknown): void;
  /** Rejects further answers. */
  close(): void;
}

interface Waiting extends PromiseWithResolvers<Answer> {
  readonly request: InputRequest;
}

export function createTaskInputs(): TaskInputs {
  const waiting = new Map<string, Waiting>();
  let asked = 0;
  return {
    ask(question) {
      const request: InputRequest = { method: "elicitation/create", params: toFormParams(question) };
      const entry = { request, ...Promise.withResolvers<Answer>() };
      // Names are never reused during a task: a late answer must match nothing.
      waiting.set(`ask-${++asked}`, entry);
      return entry.promise;
    },
    pending: () => Object.fromEntries([...waiting].map(([name, { request }]) => [name, request])),
    answer(responses) {
      if (!isPlain(responses)) return;
      for (const [name, { resolve }] of [...waiting]) {
        if (!Object.hasOwn(responses, name)) continue;
        waiting.delete(name);
        resolve(toAnswer(responses[name]) ?? { action: "cancel" });
      }
    },
    close() {
      const cancelled = new ToolError("CANCELLED", "the task was cancelled before it was answered", {});
      for (const { reject } of waiting.values()) reject(cancelled);
      waiting.clear();
    },
  };
}
