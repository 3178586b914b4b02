import {
  type Ask,
  type ERRORS,
  FORM_ANSWERS,
  orAborted,
  PERMISSION_ANSWERS,
  type Question,
  type QuestionOutcome,
  QuestionSettled,
  ToolError,
} from "@octant/core";
import { z } from "zod";

/** A question to the person behind a caller, as a chunk of the call's stream. */
export interface QuestionChunk {
  readonly kind: "question";
  readonly question: Question;
}

/** The question has an outcome: its view can be closed. */
export interface SettledChunk {
  readonly kind: "question_settled";
  readonly question_id: string;
  readonly outcome: QuestionOutcome;
}

const Value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

/** The result of a question: an answer, the error that ends the call, or neither where nobody can be asked. */
export const WireAnswer = z.object({
  answer: z
    .object({
      answer: z.enum([...PERMISSION_ANSWERS, ...FORM_ANSWERS, "unattended"]),
      reason: z.string().max(10_000).optional(),
      content: z.record(z.string(), Value).optional(),
    })
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
export function readAnswer(value: unknown): QuestionOutcome | undefined {
  const parsed = WireAnswer.safeParse(value);
  const { answer, error } = parsed.success ? parsed.data : {};
  if (error?.code === "CANCELLED") throw new ToolError("CANCELLED", error.message, {});
  if (error) throw new ToolError("APPROVAL_REQUIRED", error.message, { by: "client" });
  return answer ?? undefined;
}

/** Asks the person, and converts the outcome for the wire. */
async function toWireAnswer(ask: Ask, question: Question, signal: AbortSignal) {
  try {
    return { answer: await ask(question, signal) } satisfies WireAnswer;
  } catch (cause) {
    const code = cause instanceof ToolError && cause.code === "APPROVAL_REQUIRED" ? cause.code : "CANCELLED";
    const text = cause instanceof ToolError ? cause.message : "the question was not answered";
    return { error: { code, message: text } } satisfies WireAnswer;
  }
}

/** Calls back when the question has an outcome, or its call was cancelled. */
export function onSettled(
  { question_id }: Question,
  signal: AbortSignal,
  listener: (settled: Omit<SettledChunk, "kind">) => void,
): void {
  const toOutcome = ({ reason }: AbortSignal): QuestionOutcome =>
    reason instanceof QuestionSettled ? reason.outcome : { answer: "unattended" };
  signal.addEventListener("abort", () => listener({ question_id, outcome: toOutcome(signal) }), {
    once: true,
  });
}

/** The views of questions in the process that asks the person. */
export function createViews() {
  const views = new Map<string, AbortController>();
  return {
    /** Asks until the question is settled there, or the signal aborts. */
    ask(ask: Ask, question: Question, signal: AbortSignal): Promise<WireAnswer> {
      const view = new AbortController();
      views.set(question.question_id, view);
      return toWireAnswer(ask, question, AbortSignal.any([signal, view.signal]));
    },
    settle({ question_id, outcome }: Omit<SettledChunk, "kind">): void {
      views.get(question_id)?.abort(new QuestionSettled(outcome));
    },
  };
}

interface Waiting extends PromiseWithResolvers<QuestionOutcome | undefined> {
  send(): void;
}

/** The questions of one request, each until it is answered. */
export type CallQuestions = ReturnType<typeof createCallQuestions>;

export function createCallQuestions() {
  const waiting = new Map<unknown, Waiting>();
  let isClosed = false;
  return {
    async ask(
      question: Question,
      signal: AbortSignal,
      send: (chunk: QuestionChunk | SettledChunk) => void,
    ): Promise<QuestionOutcome | undefined> {
      signal.throwIfAborted();
      if (isClosed) return undefined;
      const chunk: QuestionChunk = { kind: "question", question };
      const entry = {
        ...Promise.withResolvers<QuestionOutcome | undefined>(),
        send: () => send(chunk),
      };
      waiting.set(question.question_id, entry);
      entry.send();
      onSettled(question, signal, (settled) => !isClosed && send({ kind: "question_settled", ...settled }));
      return orAborted(entry.promise, signal).finally(() => waiting.delete(question.question_id));
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
