import { createSeal } from "@octant/core";
import type { Plain } from "../messages.ts";

/** The state that a retried request must return: its caller, its subject, and the answers to earlier questions. */
export interface RequestState {
  readonly caller: string;
  readonly subject: string;
  readonly args: unknown;
  /** One per round, by the names of its inputs. */
  readonly answers: readonly Plain[];
}

const LIFETIME_MS = 10 * 60_000;

/** Seals state that the client holds, so that it is returned unchanged and only for the same call. */
export type StateSeal = ReturnType<typeof createStateSeal>;

export function createStateSeal(secret: Uint8Array, now: () => number = Date.now) {
  const { seal, open } = createSeal(secret);
  return {
    seal: ({ answers, ...call }: RequestState): string =>
      seal(scopeOf(call), { answers, until: now() + LIFETIME_MS }),
    /** The answers so far; undefined when the state was changed, is for another call or caller, or has expired. */
    open(text: unknown, call: Omit<RequestState, "answers">): readonly Plain[] | undefined {
      if (typeof text !== "string") return undefined;
      // We sealed it.
      const state = open(scopeOf(call), text) as { answers: readonly Plain[]; until: number } | undefined;
      return state && state.until >= now() ? state.answers : undefined;
    },
  };
}

const scopeOf = ({ caller, subject, args }: Omit<RequestState, "answers">) =>
  `octant request state ${JSON.stringify([caller, subject, args])}`;
