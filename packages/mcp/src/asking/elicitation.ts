import { randomUUID } from "node:crypto";
import type { Answer, CallOptions } from "@octant/core";
import { isPlain, notificationLine, type Plain } from "../messages.ts";
import { canShowForms, toAnswer, toFormParams } from "./forms.ts";

/** Asks a client of the handshake revisions, which answers requests of the server. */
export interface Elicitation {
  readonly ask: NonNullable<CallOptions["ask"]>;
  /** Whether the message answered one of our questions. */
  receive(response: unknown): boolean;
  /** Nobody answers any more. */
  close(): void;
}

export interface ElicitationOptions {
  /** The client's parameters of `initialize`, once they are known. */
  handshake(): Plain | undefined;
  write(line: string): void;
}

export function createElicitation({ handshake, write }: ElicitationOptions): Elicitation {
  const waiting = new Map<unknown, (answer: Answer | undefined) => void>();
  return {
    ask(question, signal) {
      if (!canShowForms(handshake()?.["capabilities"])) return Promise.resolve(undefined);
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<Answer | undefined>();
      const id = `ask-${randomUUID()}`;
      const stop = () => {
        waiting.delete(id);
        write(
          notificationLine("notifications/cancelled", { requestId: id, reason: "the call was cancelled" }),
        );
        reject(signal.reason);
      };
      waiting.set(id, (answer) => {
        signal.removeEventListener("abort", stop);
        resolve(answer);
      });
      signal.addEventListener("abort", stop, { once: true });
      const params = toFormParams(question);
      write(JSON.stringify({ jsonrpc: "2.0", id, method: "elicitation/create", params }));
      return promise;
    },
    receive(response) {
      const id = isPlain(response) ? response["id"] : undefined;
      const settle = waiting.get(id);
      if (!settle || !isPlain(response)) return false;
      waiting.delete(id);
      // A client that answers with an error has shown no form.
      settle("error" in response ? undefined : (toAnswer(response["result"]) ?? { action: "cancel" }));
      return true;
    },
    close() {
      for (const settle of waiting.values()) settle(undefined);
      waiting.clear();
    },
  };
}
