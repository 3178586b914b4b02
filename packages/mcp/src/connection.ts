import { type Answers, asksForLargeAnswer, createLargeCalls } from "@octant/core";
import { clientInfoIn } from "./answer.ts";
import { toLegacyClient } from "./asking/client-requests.ts";
import { isLogged, type LogLevel, type RequestClient } from "./asking/exchange.ts";
import { toModernClient } from "./asking/input-required.ts";
import { CAPABILITIES_KEY, type Era, judge, LOG_LEVEL_KEY, type Phase } from "./era.ts";
import { createLegacySession, type LegacySession } from "./legacy-session.ts";
import { createQuota, type Quota } from "./listening/subscriptions.ts";
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  idsAwaited,
  isResponse,
  METHOD_NOT_FOUND,
  type Message,
  type Outgoing,
  PARSE_ERROR,
  type Plain,
  ProtocolError,
  parseJson,
  type RequestId,
  toErrorMessage,
  toMessage,
  toNotification,
  toPlain,
  toResultMessage,
} from "./messages.ts";
import { createToolRunner, type RunTool } from "./methods/tools.ts";
import { toModernResult } from "./modern-result.ts";
import type { Service } from "./service.ts";

/** The destination of messages to a client. */
export interface Outlet {
  /** `about` is the request of the message; it matters where requests have their own streams. */
  write(message: Outgoing, about?: RequestId): void;
  /** While true, optional messages are dropped. */
  isFull(): boolean;
  /** False while nobody would receive a message without a request. */
  readonly hasListener?: boolean;
}

/** One client's connection, independent of its transport. */
export interface Connection {
  /** Takes one parsed message. */
  receive(value: unknown): void;
  /** Call when the outlet is no longer full. */
  resume(): void;
  /** Ends subscriptions and cancels all other requests, which are not answered. */
  close(): Promise<void>;
}

export interface RequestParts {
  readonly service: Service;
  readonly era: Era;
  readonly message: Message & { readonly id: RequestId };
  readonly runTool: RunTool;
  readonly signal: AbortSignal;
  /** Aborted when the connection ends normally: requests that wait for that are answered then. */
  readonly ending: AbortSignal;
  readonly quota: Quota;
  readonly write: (message: Outgoing) => void;
  readonly isFull: () => boolean;
  readonly session?: LegacySession;
  readonly endsIdleListens?: boolean;
}

/**
 * A request while it is being answered. It has no getters: each would give every request a hidden class of its own,
 * which keeps the request in memory until the next full collection.
 */
export type McpRequest = ReturnType<typeof createRequest>;

export function createRequest({ message, write, ...parts }: RequestParts) {
  const { service, session, signal } = parts;
  const { id, method, params = {}, meta } = message;
  let client: RequestClient | undefined;
  const request = {
    ...parts,
    id,
    method,
    params,
    meta,
    /** Sends a message that belongs to this request. */
    write(sent: Outgoing): void {
      if (!signal.aborted) write(sent);
    },
    /** The form in which the client gets tools and answers. */
    answers: (): Answers => service.formFor(clientInfoIn(session?.handshake, meta)),
    /** The capabilities that the client declared. */
    capabilities: toPlain(session ? session.handshake?.["capabilities"] : meta?.[CAPABILITIES_KEY]),
    /** Throws a ProtocolError when the request carries a state that belongs to another one. */
    client(): RequestClient {
      client ??= session ? toLegacyClient(request, session.requests, log) : toModernClient(request, log);
      return client;
    },
    /** The result that requests input instead; undefined when nothing was asked. */
    inputRequired: (): Plain | undefined => client?.inputRequired(),
  };
  const log = (level: LogLevel, data: unknown) => {
    // The handshake revisions send all logs by default; the modern one only to clients that request them.
    const threshold = session ? (session.logLevel ?? "debug") : meta?.[LOG_LEVEL_KEY];
    if (service.logging && threshold !== undefined && isLogged(level, threshold as LogLevel))
      request.write(toNotification("notifications/message", { level, data }));
  };
  return request;
}

/** Never rejects. */
export async function answerRequest(request: McpRequest): Promise<Outgoing> {
  const { id, service, method } = request;
  try {
    return toResultMessage(id, await resultOf(request));
  } catch (cause) {
    if (cause instanceof ProtocolError) return toErrorMessage(id, cause);
    if (!request.signal.aborted) service.log(`mcp: ${method} failed: ${cause}`);
    return toErrorMessage(id, { code: INTERNAL_ERROR, message: "Internal error" });
  }
}

async function resultOf(request: McpRequest): Promise<Plain> {
  const { service, era, method, params, session, meta } = request;
  service.onClient?.(clientInfoIn(session?.handshake, meta));
  const run = service.methods[era].get(method);
  if (!run) throw new ProtocolError(METHOD_NOT_FOUND, "Method not found");
  if (era === "modern" && params["requestState"] !== undefined) request.client();
  const result = await Promise.resolve(run(request)).catch((cause: unknown) => {
    // Work that was ended by its own question failed only for that reason.
    const question = request.inputRequired();
    if (question) return question;
    throw cause;
  });
  const answer = request.inputRequired() ?? result;
  return era === "modern" ? toModernResult(service, method, answer) : answer;
}

/** `answered` are messages that were answered before this connection took over. */
export function createConnection(
  service: Service,
  outlet: Outlet,
  answered: readonly unknown[] = [],
): Connection {
  const runTool = createToolRunner(service);
  const running = new Map<RequestId, AbortController>();
  const large = createLargeCalls(outlet.isFull);
  const ending = new AbortController();
  const quota = createQuota();
  const session = createLegacySession(service, outlet, quota);
  let phase: Phase = "undecided";

  const start = async (message: Message & { readonly id: RequestId }, era: Era) => {
    const { id, params } = message;
    const controller = new AbortController();
    const { signal } = controller;
    running.set(id, controller);
    const isLarge = asksForLargeAnswer(toPlain(params?.["arguments"]));
    if (isLarge) await large.enter();
    if (!signal.aborted) {
      const request = createRequest({
        service,
        era,
        message,
        runTool,
        signal,
        ending: ending.signal,
        quota,
        isFull: outlet.isFull,
        write: (sent) => outlet.write(sent, id),
        ...(era === "legacy" && { session }),
      });
      request.write(await answerRequest(request));
    }
    if (isLarge) large.leave();
    if (running.get(id) === controller) running.delete(id);
  };

  const notice = ({ method, params }: Message) => {
    if (method === "notifications/initialized") session.isInitialized = phase === "legacy";
    if (method !== "notifications/cancelled") return;
    // An invalid id matches no request.
    const { requestId, reason } = toPlain(params);
    running.get(requestId as RequestId)?.abort(typeof reason === "string" ? reason : "the client cancelled");
  };

  const refuse = (value: unknown) => {
    const ids = idsAwaited(value);
    for (const id of ids) outlet.write(toErrorMessage(id, INVALID), id);
    if (ids.length === 0) service.log("mcp: dropped a message that is neither a request nor a notification");
  };

  for (const value of answered) {
    const message = toMessage(value);
    if (!message) continue;
    phase = judge(phase, message).phase;
    if (message.method === "initialize") {
      session.handshake = message.params;
      service.onClient?.(message.params?.["clientInfo"]);
    } else notice(message);
  }

  return {
    receive(value) {
      const message = toMessage(value);
      if (!message) {
        if (!isResponse(value)) refuse(value);
        else if (!session.requests.receive(value))
          service.log("mcp: dropped a response that matches no request of this server");
        return;
      }
      const { id } = message;
      const judgement = judge(phase, message);
      phase = judgement.phase;
      if (id === undefined) return notice(message);
      const { era, refusal } = judgement;
      const isKnown = era === undefined || service.methods[era].has(message.method);
      if (refusal && isKnown) outlet.write(toErrorMessage(id, refusal), id);
      else if (era) void start({ ...message, id }, era);
    },
    resume: large.resume,
    async close() {
      ending.abort();
      // Requests that are answered at the end are answered in this turn.
      await new Promise((resolve) => setImmediate(resolve));
      session.close();
      for (const controller of running.values()) controller.abort("the connection closed");
    },
  };
}

/** Passes one message on as a value; text that is not JSON is answered with an error. */
export function receiveText(text: string, connection: Connection, write: (message: Outgoing) => void) {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "not JSON";
    return write(toErrorMessage(null, { code: PARSE_ERROR, message: `Parse error: ${reason}` }));
  }
  connection.receive(value);
}

const INVALID = {
  code: INVALID_REQUEST,
  message:
    "Invalid Request: send one JSON-RPC 2.0 request a line, with method a string, params an object, and no batches",
};
