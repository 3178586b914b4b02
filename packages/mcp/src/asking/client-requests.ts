import { randomUUID } from "node:crypto";
import { QuestionSettled, ToolError } from "@octant/core";
import type { McpRequest } from "../connection.ts";
import { isPlain, type Outgoing, type Plain, type RequestId, toNotification } from "../messages.ts";
import { type Exchange, type InputRequest, lackOf, type RequestClient } from "./exchange.ts";
import { canShowForms, toAnswer, toElicitation } from "./forms.ts";

/** Requests from the server to a client of the handshake revisions. */
export type ClientRequests = ReturnType<typeof createClientRequests>;

export function createClientRequests(write: (message: Outgoing, about: RequestId) => void) {
  const waiting = new Map<unknown, (result: unknown) => void>();
  return {
    /** Resolves with the result; undefined when the client answers with an error or has disconnected. */
    send({ method, params }: InputRequest, signal: AbortSignal, about: RequestId): Promise<unknown> {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const id = `ask-${randomUUID()}`;
      const stop = () => {
        waiting.delete(id);
        const isSettled = signal.reason instanceof QuestionSettled;
        const reason = isSettled ? "the question was answered elsewhere" : "the call was cancelled";
        const cancelled = { requestId: id, reason };
        write(toNotification("notifications/cancelled", cancelled), about);
        reject(signal.reason);
      };
      waiting.set(id, (result) => {
        signal.removeEventListener("abort", stop);
        resolve(result);
      });
      signal.addEventListener("abort", stop, { once: true });
      write({ jsonrpc: "2.0", id, method, params }, about);
      return promise;
    },
    /** Whether the message answered one of the requests. */
    receive(response: Plain): boolean {
      const settle = waiting.get(response["id"]);
      if (!settle) return false;
      waiting.delete(response["id"]);
      settle(response["result"]);
      return true;
    },
    close(): void {
      for (const settle of waiting.values()) settle(undefined);
      waiting.clear();
    },
  };
}

/** A client that can answer requests from the server. */
export function toLegacyClient(
  { capabilities, id, signal }: McpRequest,
  requests: ClientRequests,
  log: Exchange["log"],
): RequestClient {
  const send = (request: InputRequest) => requests.send(request, signal, id);
  return {
    async ask(question, askSignal) {
      if (!canShowForms(capabilities)) return undefined;
      const answer = await requests.send(toElicitation(question), askSignal, id);
      return answer === undefined ? undefined : toAnswer(question, answer);
    },
    exchange: {
      capabilities,
      async request(inputs) {
        const answers = Object.entries(inputs).map(async ([name, request]) => [name, await send(request)]);
        return Object.fromEntries((await Promise.all(answers)).filter(([, answer]) => isPlain(answer)));
      },
      require(needed) {
        const missing = lackOf(needed, capabilities);
        if (!missing) return;
        const what = `a client with ${JSON.stringify(missing)}`;
        throw new ToolError("UNSUPPORTED", `this needs ${what}`, { what, how: "use a client that has it" });
      },
      log,
    },
    inputRequired: () => undefined,
  };
}
