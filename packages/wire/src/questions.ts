import {
  type Answer,
  type CallOptions,
  type ERRORS,
  orAborted,
  type Question,
  ToolError,
} from "@octant/core";
import { z } from "zod";

type Ask = NonNullable<CallOptions["ask"]>;

/** A question to the person behind a caller, as a chunk of the call's stream. */
export interface QuestionChunk extends Question {
  readonly kind: "question";
  readonly question_id: string;
}

/** What comes back: an answer, the error that ends the call, or neither where nobody can be asked. */
export const WireAnswer = z.object({
  answer: z
    .object({ action: z.enum(["accept", "decline", "cancel"]), content: z.unknown().optional() })
    .nullish(),
  error: z
    .object({
      code: z.enum(["APPROVAL_REQUIRED", "CANCELLED"] satisfies (keyof typeof ERRORS)[]),
      message: z.string().max(10_000),
    })
    .nullish(),
});
export type WireAnswer = z.output<typeof WireAnswer>;

/** Throws the error of a client whose person answers later, in a call of its own. */
export function readAnswer(value: unknown): Answer | undefined {
  const parsed = WireAnswer.safeParse(value);
  const { answer, error } = parsed.success ? parsed.data : {};
  if (error?.code === "CANCELLED") throw new ToolError("CANCELLED", error.message, {});
  if (error) throw new ToolError("APPROVAL_REQUIRED", error.message, { by: "client" });
  return answer ?? undefined;
}

/** Asks the person, and puts the outcome into what goes over the wire. */
export async function toWireAnswer(ask: Ask, { message, form }: Question, signal: AbortSignal) {
  try {
    return { answer: await ask({ message, form }, signal) } satisfies WireAnswer;
  } catch (cause) {
    const code = cause instanceof ToolError && cause.code === "APPROVAL_REQUIRED" ? cause.code : "CANCELLED";
    const text = cause instanceof ToolError ? cause.message : "the question was not answered";
    return { error: { code, message: text } } satisfies WireAnswer;
  }
}

interface Waiting extends PromiseWithResolvers<Answer | undefined> {
  send(): void;
}

/** The questions of one request, each until it is answered. */
export type Questions = ReturnType<typeof createQuestions>;

export function createQuestions() {
  const waiting = new Map<unknown, Waiting>();
  let asked = 0;
  let isClosed = false;
  return {
    async ask(
      { message, form }: Question,
      signal: AbortSignal,
      send: (chunk: QuestionChunk) => void,
    ): Promise<Answer | undefined> {
      signal.throwIfAborted();
      if (isClosed) return undefined;
      const question_id = `ask-${++asked}`;
      const chunk: QuestionChunk = { kind: "question", question_id, message, form };
      const entry = { ...Promise.withResolvers<Answer | undefined>(), send: () => send(chunk) };
      waiting.set(question_id, entry);
      entry.send();
      return orAborted(entry.promise, signal).finally(() => waiting.delete(question_id));
    },
    /** The answer that a client sent; one to a question that does not wait is ignored. */
    answer(question_id: unknown, value: unknown): void {
      const entry = waiting.get(question_id);
      try {
        entry?.resolve(readAnswer(value));
      } catch (cause) {
        entry?.reject(cause);
      }
    },
    /** Sends those that wait once more, to a client that has connected anew. */
    repeat(): void {
      for (const { send } of waiting.values()) send();
    },
    /** The request was answered, so nobody can be asked any more. */
    close(): void {
      isClosed = true;
      for (const { resolve } of waiting.values()) resolve(undefined);
    },
  };
}
