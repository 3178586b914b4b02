import { type ErrorCode, newHandle, ToolError } from "@octant/core";
import { z } from "zod";
import { encodeBody, parseBody } from "./bodies.ts";
import { LEASE_MS, type NatsConnection } from "./connection.ts";
import { placeSubjects } from "./subjects.ts";

const RESEND_MS = 2_000;
/**
 * How long an answer is stored for a request that is sent again; after that its place is lost, or the answer has
 * arrived.
 */
const ANSWER_MS = 6 * LEASE_MS;

const Request = z.object({
  id: z.string().max(128),
  owner: z.string().max(128),
  operation: z.string().max(64),
  input: z.unknown(),
});
const Answer = z.union([
  z.object({ id: z.string(), data: z.unknown() }),
  z.object({
    id: z.string(),
    error: z.object({ code: z.string(), message: z.string(), details: z.unknown() }),
  }),
]);

export type PlaceRequests = ReturnType<typeof createPlaceRequests>;

/** Asks the host that holds a lease. A request is sent until it is answered, and runs once. */
export function createPlaceRequests(
  { nc, bodies }: NatsConnection,
  {
    lease_id,
    owner,
    lost,
  }: { readonly lease_id: string; readonly owner: string; readonly lost: AbortSignal },
) {
  const subjects = placeSubjects(lease_id);
  const waiting = new Map<string, PromiseWithResolvers<unknown>>();
  const take = async (message: Parameters<typeof parseBody>[0]) => {
    const parsed = Answer.safeParse(await parseBody(message, bodies, { once: true }));
    if (!parsed.success) return;
    const answer = parsed.data;
    const asked = waiting.get(answer.id);
    if (!asked) return;
    waiting.delete(answer.id);
    if (!("error" in answer)) return asked.resolve(answer.data);
    const { code, message: text, details } = answer.error;
    // A host of the same version wrote it.
    asked.reject(new ToolError(code as ErrorCode, text, Object(details)));
  };
  const answers = nc.subscribe(subjects.answer, {
    callback: (_, message) => void take(message).catch(() => {}),
  });
  const close = () => {
    answers.unsubscribe();
    for (const { reject } of waiting.values()) reject(lost.reason);
    waiting.clear();
  };
  lost.addEventListener("abort", close, { once: true });
  return {
    async ask<T>(operation: string, input: object = {}, signal?: AbortSignal): Promise<T> {
      lost.throwIfAborted();
      signal?.throwIfAborted();
      const id = newHandle("request", Date.now());
      const asked = Promise.withResolvers<unknown>();
      // It may be rejected before it is awaited.
      asked.promise.catch(() => {});
      waiting.set(id, asked);
      const { data, headers } = await encodeBody({ id, owner, operation, input }, bodies);
      const send = () => {
        if (!nc.isClosed()) nc.publish(subjects.request, data, { headers });
      };
      const timer = setInterval(send, RESEND_MS);
      const stop = () => asked.reject(signal?.reason);
      signal?.addEventListener("abort", stop, { once: true });
      try {
        send();
        // The host answers in the shape of the operation.
        return (await asked.promise) as T;
      } finally {
        clearInterval(timer);
        signal?.removeEventListener("abort", stop);
        waiting.delete(id);
      }
    },
    close,
  };
}

export interface AnswerOptions {
  readonly lease_id: string;
  /** Requests that come before wait for it. */
  readonly opened: Promise<unknown>;
  /** Checked before anything is answered. */
  isHeld(): boolean;
  answer(operation: string, input: unknown, owner: string): Promise<unknown>;
  log(line: string): void;
}

interface Kept {
  readonly answer: Promise<object>;
  endedAt?: number;
}

/** Answers the requests of a place as long as its lease is held. */
export function answerPlaceRequests(
  { nc, bodies }: NatsConnection,
  { lease_id, opened, isHeld, answer, log }: AnswerOptions,
) {
  const subjects = placeSubjects(lease_id);
  const answers = new Map<string, Kept>();
  const run = async ({ id, owner, operation, input }: z.output<typeof Request>): Promise<object> => {
    try {
      return { id, data: (await answer(operation, input, owner)) ?? null };
    } catch (cause) {
      if (cause instanceof ToolError)
        return { id, error: { code: cause.code, message: cause.message, details: cause.details ?? {} } };
      log(`host: ${operation} failed: ${cause instanceof Error ? (cause.stack ?? cause.message) : cause}`);
      return {
        id,
        error: { code: "UPSTREAM_ERROR", message: `the host failed: ${reasonOf(cause)}`, details: {} },
      };
    }
  };
  /** A running request is remembered until it ends: it must not run twice. */
  const answerOnce = (request: z.output<typeof Request>): Promise<object> => {
    const known = answers.get(request.id);
    if (known) return known.answer;
    const now = performance.now();
    for (const [id, { endedAt = now }] of answers) if (now - endedAt > ANSWER_MS) answers.delete(id);
    const kept: Kept = { answer: run(request) };
    answers.set(request.id, kept);
    void kept.answer.then(() => {
      kept.endedAt = performance.now();
    });
    return kept.answer;
  };
  const take = async (message: Parameters<typeof parseBody>[0]) => {
    const request = Request.parse(await parseBody(message, bodies, { once: false }));
    await opened;
    if (!isHeld()) return;
    const { data, headers } = await encodeBody(await answerOnce(request), bodies);
    // A host that lost its lease meanwhile answers nothing.
    if (isHeld() && !nc.isClosed()) nc.publish(subjects.answer, data, { headers });
  };
  const requests = nc.subscribe(subjects.request, {
    callback: (_, message) =>
      void take(message).catch((cause: unknown) => log(`host: bad request: ${cause}`)),
  });
  return { close: () => requests.unsubscribe() };
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
