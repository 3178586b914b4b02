import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "@octant/core";
import type { Standing } from "@octant/http";
import { methodNotAllowed, refuse } from "@octant/http";
import { HANDSHAKE_VERSIONS } from "../era.ts";
import { INVALID_REQUEST, isPlain, isResponse, toMessage } from "../messages.ts";
import type { Service } from "../service.ts";
import type { Limits } from "./limits.ts";
import { createSession, type Session } from "./session.ts";
import { sessionNotFound } from "./session-not-found.ts";

/** The clients of the handshake revisions. */
export interface Sessions {
  post(request: IncomingMessage, response: ServerResponse, value: unknown, service: Service): void;
  /** Opens or resumes a stream. */
  listen(request: IncomingMessage, response: ServerResponse, service: Service): void;
  end(request: IncomingMessage, response: ServerResponse, service: Service): void;
  close(): Promise<void>;
}

const SWEEP_MS = 1_000;

export function createSessions(limits: Limits, standingOf: (caller: Caller) => Standing): Sessions {
  const sessions = new Map<string, Session>();
  const endSession = (session: Session) => {
    sessions.delete(session.id);
    return session.close();
  };
  const sweep = setInterval(() => {
    const limit = performance.now() - limits.idleSessionMs;
    for (const session of sessions.values())
      if (session.usedAt() < limit || standingOf(session.caller) === "revoked") void endSession(session);
  }, SWEEP_MS).unref();

  /** The session of a request; when there is none, or not the caller's, the request is refused. */
  const find = (
    request: IncomingMessage,
    response: ServerResponse,
    service: Service,
  ): Session | undefined => {
    const id = request.headers["mcp-session-id"];
    const version = request.headers["mcp-protocol-version"];
    const session = typeof id === "string" ? sessions.get(id) : undefined;
    if (id === undefined) {
      refuse(response, { status: 400, message: "Bad Request: Mcp-Session-Id header is required" });
      // A session id is not a credential: it is useless with another token.
    } else if (session?.caller.id !== service.caller.id) refuse(response, sessionNotFound);
    else if (version !== undefined && !HANDSHAKE_VERSIONS.includes(String(version)))
      refuse(response, {
        status: 400,
        message: `Bad Request: Unsupported protocol version: ${version} (supported versions: ${HANDSHAKE_VERSIONS.join(", ")})`,
      });
    else return session;
    return undefined;
  };

  const open = (response: ServerResponse, value: unknown, version: unknown, service: Service) => {
    if (sessions.size >= limits.maxSessions)
      return refuse(response, { status: 503, message: "too many sessions; end some, or try later" });
    const session = createSession({
      ...{ id: randomUUID(), service, limits },
      version: String(version),
      onHandshake(accepted) {
        if (!accepted) void endSession(session);
      },
    });
    sessions.set(session.id, session);
    session.request(value, response);
  };

  return {
    post(request, response, value, service) {
      const accept = request.headers.accept ?? "";
      if (!accept.includes("application/json") || !accept.includes("text/event-stream"))
        return refuse(response, {
          status: 406,
          message: "Not Acceptable: Client must accept both application/json and text/event-stream",
        });
      const message = toMessage(value);
      const isHandshake = message?.method === "initialize" && message.id !== undefined;
      if (isHandshake && request.headers["mcp-session-id"] === undefined)
        return open(response, value, message.params?.["protocolVersion"], service);
      const session = find(request, response, service);
      if (!session) return;
      if (isHandshake)
        return refuse(response, {
          status: 400,
          code: INVALID_REQUEST,
          message: "Invalid Request: Server already initialized",
        });
      if (!message && !isResponse(value)) return refuse(response, invalidRequest(value));
      if (message?.id === undefined) {
        session.receive(value);
        return void response.writeHead(202).end();
      }
      if (session.isRunning(message.id))
        return refuse(response, {
          status: 400,
          code: INVALID_REQUEST,
          message: "Invalid Request: a request with this id is running",
        });
      session.request(value, response);
    },
    listen(request, response, service) {
      if (request.headers["mcp-session-id"] === undefined) return refuse(response, methodNotAllowed("POST"));
      if (!request.headers.accept?.includes("text/event-stream"))
        return refuse(response, {
          status: 406,
          message: "Not Acceptable: Client must accept text/event-stream",
        });
      const session = find(request, response, service);
      if (!session) return;
      const lastEventId = request.headers["last-event-id"];
      if (typeof lastEventId === "string") {
        if (!session.resume(response, lastEventId))
          refuse(response, { status: 400, message: "Invalid event ID: no stream of this session had it" });
      } else if (!session.listen(response))
        refuse(response, { status: 409, message: "Conflict: Only one SSE stream is allowed per session" });
    },
    end(request, response, service) {
      if (request.headers["mcp-session-id"] === undefined) return refuse(response, methodNotAllowed("POST"));
      const session = find(request, response, service);
      if (!session) return;
      void endSession(session);
      response.writeHead(200).end();
    },
    async close() {
      clearInterval(sweep);
      await Promise.all([...sessions.values()].map(endSession));
    },
  };
}

const invalidRequest = (value: unknown) => ({
  status: 400,
  code: INVALID_REQUEST,
  message: "Invalid Request: post one JSON-RPC 2.0 message, and no batches",
  id:
    isPlain(value) && (typeof value["id"] === "string" || typeof value["id"] === "number")
      ? value["id"]
      : null,
});
