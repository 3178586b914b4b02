import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "@octant/core";
import { type HttpRefusal, methodNotAllowed, refuse, type Standing } from "@octant/http";
import { HANDSHAKE_VERSIONS } from "../era.ts";
import { INVALID_REQUEST, isResponse, toMessage, toPlain } from "../messages.ts";
import type { Service } from "../service.ts";
import type { Limits } from "./limits.ts";
import { createSession, type Session } from "./session.ts";

const SWEEP_MS = 1_000;

/** The clients of the handshake revisions. */
export function createSessions(limits: Limits, standingOf: (caller: Caller) => Standing) {
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
    { headers }: IncomingMessage,
    response: ServerResponse,
    service: Service,
  ): Session | undefined => {
    const { "mcp-session-id": id, "mcp-protocol-version": version } = headers;
    const session = sessions.get(String(id));
    if (id === undefined) {
      refuse(response, badRequest("Mcp-Session-Id header is required"));
      // A session id is not a credential: it is useless with another token.
    } else if (session?.caller.id !== service.caller.id) refuse(response, sessionNotFound);
    else if (version !== undefined && !HANDSHAKE_VERSIONS.includes(String(version)))
      refuse(
        response,
        badRequest(
          `Unsupported protocol version: ${version} (supported versions: ${HANDSHAKE_VERSIONS.join(", ")})`,
        ),
      );
    else return session;
    return undefined;
  };

  const open = (response: ServerResponse, value: unknown, version: unknown, service: Service) => {
    if (sessions.size >= limits.maxSessions)
      return refuse(response, { status: 503, message: "too many sessions; end some, or try later" });
    const session = createSession({
      id: randomUUID(),
      service,
      limits,
      version: String(version),
      onHandshake(accepted) {
        if (!accepted) void endSession(session);
      },
    });
    sessions.set(session.id, session);
    session.request(value, response);
  };

  return {
    post(request: IncomingMessage, response: ServerResponse, value: unknown, service: Service) {
      const accept = request.headers.accept ?? "";
      if (!accept.includes("application/json") || !accept.includes("text/event-stream"))
        return refuse(response, notAcceptable("both application/json and text/event-stream"));
      const message = toMessage(value);
      const isHandshake = message?.method === "initialize" && message.id !== undefined;
      if (isHandshake && request.headers["mcp-session-id"] === undefined)
        return open(response, value, message.params?.["protocolVersion"], service);
      const session = find(request, response, service);
      if (!session) return;
      if (isHandshake) return refuse(response, invalidRequest("Server already initialized"));
      if (!message && !isResponse(value)) {
        const { id } = toPlain(value);
        return refuse(response, {
          ...invalidRequest("post one JSON-RPC 2.0 message, and no batches"),
          id: typeof id === "string" || typeof id === "number" ? id : null,
        });
      }
      if (message?.id === undefined) {
        session.receive(value);
        return void response.writeHead(202).end();
      }
      if (session.isRunning(message.id))
        return refuse(response, invalidRequest("a request with this id is running"));
      session.request(value, response);
    },
    /** Opens or resumes a stream. */
    listen(request: IncomingMessage, response: ServerResponse, service: Service) {
      if (request.headers["mcp-session-id"] === undefined) return refuse(response, methodNotAllowed("POST"));
      if (!request.headers.accept?.includes("text/event-stream"))
        return refuse(response, notAcceptable("text/event-stream"));
      const session = find(request, response, service);
      if (!session) return;
      const lastEventId = request.headers["last-event-id"];
      if (typeof lastEventId === "string") {
        if (!session.resume(response, lastEventId))
          refuse(response, { status: 400, message: "Invalid event ID: no stream of this session had it" });
      } else if (!session.listen(response))
        refuse(response, { status: 409, message: "Conflict: Only one SSE stream is allowed per session" });
    },
    end(request: IncomingMessage, response: ServerResponse, service: Service) {
      if (request.headers["mcp-session-id"] === undefined) return refuse(response, methodNotAllowed("POST"));
      const session = find(request, response, service);
      if (!session) return;
      void endSession(session);
      response.writeHead(200).end();
    },
    async close(): Promise<void> {
      clearInterval(sweep);
      await Promise.all([...sessions.values()].map(endSession));
    },
  };
}

export const sessionNotFound: HttpRefusal = { status: 404, code: -32_001, message: "Session not found" };

export const notAcceptable = (types: string): HttpRefusal => ({
  status: 406,
  message: `Not Acceptable: Client must accept ${types}`,
});

const badRequest = (reason: string): HttpRefusal => ({ status: 400, message: `Bad Request: ${reason}` });

const invalidRequest = (reason: string): HttpRefusal => ({
  status: 400,
  code: INVALID_REQUEST,
  message: `Invalid Request: ${reason}`,
});
