import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { isPlain, type Plain } from "../messages.ts";

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
  const macOf = (body: string) =>
    createHmac("sha256", secret).update(`octant request state ${body}`).digest();
  return {
    seal({ answers, ...call }: RequestState): string {
      const body = encode({ call: digestOf(call), answers, until: now() + LIFETIME_MS });
      return `${body}.${macOf(body).toString("base64url")}`;
    },
    /** The answers so far; undefined when the state was changed, is for another call or caller, or has expired. */
    open(text: unknown, call: Omit<RequestState, "answers">): readonly Plain[] | undefined {
      if (typeof text !== "string") return undefined;
      const [body = "", mac = ""] = text.split(".");
      const given = Buffer.from(mac, "base64url");
      const right = macOf(body);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
      const state: unknown = JSON.parse(Buffer.from(body, "base64url").toString());
      if (!isPlain(state) || Number(state["until"]) < now() || state["call"] !== digestOf(call))
        return undefined;
      return Array.isArray(state["answers"]) ? state["answers"].filter(isPlain) : undefined;
    },
  };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

const digestOf = ({ caller, subject, args }: Omit<RequestState, "answers">) =>
  createHash("sha256")
    .update(JSON.stringify([caller, subject, args]))
    .digest("base64url");
