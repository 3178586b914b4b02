import { type Answer, type CallOptions, ToolError } from "@octant/core";
import type { InputRequest, InputRequests } from "../asking/exchange.ts";
import { toAnswer, toFormParams } from "../asking/forms.ts";
import { isPlain } from "../messages.ts";

/** The questions of work that goes on after its call was answered; they wait until somebody brings the answers. */
export interface TaskInputs {
  readonly ask: NonNullable<CallOptions["ask"]>;
  pending(): InputRequests;
  /** Takes the answers to what is asked, and leaves all else alone. */
  answer(responses: unknown): void;
  /** Nobody answers any more. */
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
      // No name is used twice in the life of a task: an answer that comes late must find nothing.
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
