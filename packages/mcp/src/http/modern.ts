import type { IncomingMessage, ServerResponse } from "node:http";
import { asksForLargeAnswer, type LargeCalls } from "@octant/core";
import { refuse, sendJson } from "@octant/http";
import { answerRequest, createRequest } from "../connection.ts";
import { LISTEN_METHOD } from "../listening/listen.ts";
import { createQuota } from "../listening/subscriptions.ts";
import {
  isPlain,
  METHOD_NOT_FOUND,
  type Message,
  MISSING_CAPABILITY,
  type Outgoing,
  ProtocolError,
  type RequestId,
  toErrorMessage,
  toPlain,
} from "../messages.ts";
import type { RunTool } from "../methods/tools.ts";
import type { Service } from "../service.ts";
import { checkPost } from "./headers.ts";
import type { Limits } from "./limits.ts";
import { PostReply } from "./reply.ts";
import { notAcceptable } from "./sessions.ts";

export interface ModernPost {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly value: unknown;
}

/** The state shared by all requests of one caller. */
export interface CallerEdge {
  readonly service: Service;
  readonly runTool: RunTool;
}

/** The state shared by the modern requests of all callers. */
export interface ModernParts {
  readonly large: LargeCalls;
  readonly limits: Limits;
  /** Aborted when the server closes. */
  readonly ending: AbortSignal;
}

/** Answers one POST of the revision without sessions. */
export function answerModern(post: ModernPost, edge: CallerEdge, parts: ModernParts): void {
  const { request, response, value } = post;
  try {
    const message = checkPost(value, request.headers, edge.service);
    const { id } = message;
    if (id === undefined) response.writeHead(202).end();
    else if (message.method === LISTEN_METHOD && !takesStream(request))
      refuse(response, { ...notAcceptable("text/event-stream"), id });
    else void run(post, { ...message, id }, edge, parts);
  } catch (cause) {
    if (!(cause instanceof ProtocolError)) throw cause;
    edge.service.log(`mcp: refused a request: ${cause.message}`);
    sendJson(response, 400, JSON.stringify(toErrorMessage(idToEcho(value), cause)));
  }
}

async function run(
  { request, response }: ModernPost,
  message: Message & { readonly id: RequestId },
  { service, runTool }: CallerEdge,
  { large, limits, ending }: ModernParts,
): Promise<void> {
  if (asksForLargeAnswer(toPlain(message.params?.["arguments"]))) {
    // Waits for a free slot, and holds it until its answer was read.
    await large.enter();
    if (response.destroyed) return large.leave();
    response.once("close", large.leave);
  }
  const controller = new AbortController();
  const { signal } = controller;
  const reply = new PostReply(response, {
    limits,
    takesStream: takesStream(request),
    // This revision cancels by closing the response.
    onBroken: () => controller.abort("the client closed the connection"),
  });
  const answer = await answerRequest(
    createRequest({
      service,
      era: "modern",
      message,
      runTool,
      signal,
      ending,
      quota: createQuota(),
      write: (sent) => reply.report(JSON.stringify(sent)),
      isFull: () => reply.isFull(),
      endsIdleListens: true,
    }),
  );
  if (!signal.aborted) reply.finish(JSON.stringify(answer), undefined, statusOf(answer));
}

const takesStream = ({ headers }: IncomingMessage) => headers.accept?.includes("text/event-stream") ?? false;

function statusOf(answer: Outgoing): number {
  const code = "error" in answer ? answer.error.code : undefined;
  if (code === METHOD_NOT_FOUND) return 404;
  return code === MISSING_CAPABILITY ? 400 : 200;
}

/** The id to echo when it is certain which request is refused, even an invalid one. */
function idToEcho(value: unknown): RequestId | null {
  if (!isPlain(value) || typeof value["method"] !== "string") return null;
  const { id } = value;
  return typeof id === "string" || typeof id === "number" ? id : null;
}
