import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createEventStream, methodNotAllowed, readJson, refuse } from "@octant/http";
import { type Connection, createConnection } from "../connection.ts";
import type { Limits } from "../http/limits.ts";
import { sessionNotFound } from "../http/sessions.ts";
import { parseJson } from "../messages.ts";
import type { Service } from "../service.ts";

export const STREAM_PATH = "/sse";
export const MESSAGES_PATH = "/messages";

interface OpenStream {
  readonly callerId: string;
  readonly connection: Connection;
  readonly end: () => void;
}

/** The transport of 2024-11-05: one stream for all answers, and an address to post messages to. */
export function createSseStreams(limits: Limits) {
  const streams = new Map<string, OpenStream>();
  return {
    open(request: IncomingMessage, response: ServerResponse, service: Service) {
      if (request.method !== "GET") return refuse(response, methodNotAllowed("GET"));
      if (streams.size >= limits.maxSessions)
        return refuse(response, { status: 503, message: "too many streams; end some, or try later" });
      const id = randomUUID();
      const stream = createEventStream(response, limits);
      const connection = createConnection(service, {
        write: (message) => stream.send(JSON.stringify(message)),
        isFull: stream.isFull,
      });
      streams.set(id, { callerId: service.caller.id, connection, end: stream.end });
      response.on("drain", connection.resume);
      response.once("close", () => {
        streams.delete(id);
        void connection.close();
      });
      stream.raw(`event: endpoint\ndata: ${MESSAGES_PATH}?sessionId=${id}\n\n`);
    },
    post(request: IncomingMessage, response: ServerResponse, service: Service) {
      if (request.method !== "POST") return refuse(response, methodNotAllowed("POST"));
      const id = new URL(request.url ?? "/", "http://localhost").searchParams.get("sessionId");
      const stream = streams.get(id ?? "");
      if (stream?.callerId !== service.caller.id) return refuse(response, sessionNotFound);
      const take = (value: unknown) => {
        stream.connection.receive(value);
        response.writeHead(202, { "content-type": "text/plain" }).end("Accepted");
      };
      readJson(request, response, limits.maxBodyBytes, take, parseJson);
    },
    async close(): Promise<void> {
      const open = [...streams.values()];
      await Promise.all(open.map(({ connection }) => connection.close()));
      for (const { end } of open) end();
    },
  };
}
