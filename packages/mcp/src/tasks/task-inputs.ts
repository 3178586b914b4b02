import { type Answer, type Question, ToolError } from "@octant/core";
import type { InputRequest, InputRequests } from "../asking/exchange.ts";
import { toAnswer, toFormParams } from "../asking/forms.ts";
import { isPlain } from "../messages.ts";

interface Waiting extends PromiseWithResolvers<Answer> {
  readonly request: InputRequest;
}

/** The questions of work that continues after its call was answered; they wait until a client answers them. */
export type TaskInputs = ReturnType<typeof createTaskInputs>;

export function createTaskInputs() {
  const waiting = new Map<string, Waiting>();
  let asked = 0;
  return {
    ask(question: Question): Promise<Answer> {
      const request: InputRequest = { method: "elicitation/create", params: toFormParams(question) };
      const entry = { request, ...Promise.withResolvers<Answer>() };
      // Names are never reused during a task: a late answer must match nothing.
      waiting.set(`ask-${++asked}`, entry);
      return entry.promise;
    },
    pending: (): InputRequests =>
      Object.fromEntries([...waiting].map(([name, { request }]) => [name, request])),
    /** Accepts the answers to open questions and ignores the rest. */
    answer(responses: unknown): void {
      if (!isPlain(responses)) return;
      for (const [name, { resolve }] of [...waiting]) {
        if (!Object.hasOwn(responses, name)) continue;
        waiting.delete(name);
        resolve(toAnswer(responses[name]) ?? { action: "cancel" });
      }
    },
    /** Rejects further answers. */
    close(): void {
      const cancelled = new ToolError("CANCELLED", "the task was cancelled before it was answered", {});
      for (const { reject } of waiting.values()) reject(cancelled);
      waiting.clear();
    },
  };
}
