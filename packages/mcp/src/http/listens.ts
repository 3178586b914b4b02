import type { IncomingMessage, ServerResponse } from "node:http";
import { createEventStream, refuse, sendJson } from "@octant/http";
import { parseFilter } from "../listening/filter.ts";
import { type Listening, startListening } from "../listening/listening.ts";
import { refuseFilter, refuseMany } from "../listening/listens.ts";
import { createAllowance, MAX_SUBSCRIPTIONS } from "../listening/subscriptions.ts";
import type { Message, RequestId } from "../messages.ts";
import type { Service } from "../service.ts";
import type { Limits } from "./limits.ts";

/** The streams on which modern clients are told of changes, one for each request. */
export interface HttpListens {
  open(
    post: { readonly request: IncomingMessage; readonly response: ServerResponse },
    message: Message & { readonly id: RequestId },
    service: Service,
  ): void;
  close(): void;
}

export function createHttpListens(limits: Limits): HttpListens {
  const open = new Map<Listening, ServerResponse>();
  const end = (listening: Listening) => {
    listening.end();
    open.get(listening)?.end();
  };
  return {
    open({ request, response }, message, service) {
      const { id } = message;
      if (!request.headers.accept?.includes("text/event-stream"))
        return refuse(response, { ...NO_STREAM, id });
      const filter = parseFilter(message);
      if (!filter) return sendJson(response, 200, refuseFilter(id));
      const wanted = filter.resourceSubscriptions?.length ?? 0;
      if (wanted > MAX_SUBSCRIPTIONS) return sendJson(response, 200, refuseMany(id, wanted));
      const stream = createEventStream(response, limits);
      const outlet = {
        write: (line: string) => stream.send(line),
        isFull: stream.isFull,
      };
      const listening = startListening(service, { id, filter }, outlet, createAllowance());
      open.set(listening, response);
      response.once("close", () => {
        listening.stop();
        open.delete(listening);
      });
      // A stream on which nothing will ever come is not worth keeping.
      void listening.acknowledged.then((isAnything) => isAnything || end(listening));
    },
    close() {
      for (const listening of open.keys()) end(listening);
    },
  };
}

const NO_STREAM = { status: 406, message: "Not Acceptable: Client must accept text/event-stream" };
