import type { IncomingMessage, ServerResponse } from "node:http";
import { asksForLargeAnswer, type LargeCalls } from "@octant/core";
import { refuse, sendJson } from "@octant/http";
import { type Claim, claimOf, MODERN_VERSION, VERSION_KEY } from "../client-claims.ts";
import { answerCall, type CallRequest } from "../direct-calls.ts";
import { LISTEN_METHOD } from "../listening/filter.ts";
import {
  INTERNAL_ERROR,
  isNotificationLine,
  isPlain,
  type Message,
  type RequestId,
  resultLine,
  toMessage,
} from "../messages.ts";
import { isModernCall, refuseState, toModernCall } from "../modern-call.ts";
import { knownResult, type Results } from "../results.ts";
import type { Service } from "../service.ts";
import { refuseBroken } from "./broken.ts";
import type { CallerEdge } from "./callers.ts";
import type { Limits } from "./limits.ts";
import type { HttpListens } from "./listens.ts";
import { createReply } from "./reply.ts";

export interface ModernPost {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly value: unknown;
}

/** Whether a posted value speaks the revision without handshake, or claims to. */
export function isModern(request: IncomingMessage, value: unknown): boolean {
  const version = request.headers["mcp-protocol-version"];
  if (typeof version === "string" && version >= MODERN_VERSION) return true;
  const message = toMessage(value);
  const params = isPlain(value) && isPlain(value["params"]) ? value["params"] : undefined;
  const meta = isPlain(params?.["_meta"]) ? params["_meta"] : undefined;
  if (!meta || !(VERSION_KEY in meta)) return false;
  // What else it claims, an initialize is the handshake of an older revision unless all of it is modern.
  return message?.method !== "initialize" || isModernClaim(claimOf(message));
}

/** What the modern requests of all callers share. */
export interface ModernParts {
  readonly large: LargeCalls;
  readonly listens: HttpListens;
  readonly limits: Limits;
}

/** Answers the everyday methods itself, in the very bytes that the SDK would write, and hands all others to the SDK. */
export function answerModern(post: ModernPost, edge: CallerEdge, parts: ModernParts): void {
  const { request, response, value } = post;
  const { service, results, sdk } = edge;
  const parsed = toMessage(value);
  const message = parsed && isPlainly(parsed, request) ? parsed : undefined;
  const answer = message && toAnswer(message, service, results);
  if (message?.method === LISTEN_METHOD) parts.listens.open(post, message, service);
  else if (typeof answer === "string") sendJson(response, 200, answer);
  else if (answer && asksForLargeAnswer(answer.params.arguments))
    void runLargeCall(post, answer, edge, parts);
  else if (answer) void runCall(post, answer, edge, parts.limits);
  else if (!refuseBroken(post, parsed, service.log))
    sdk.answer(request, response, value).catch((cause) => {
      service.log(`mcp: a request failed in the SDK: ${cause}`);
      refuse(response, { status: 500, code: INTERNAL_ERROR, message: "Internal server error" });
      response.end();
    });
}

/** Whether it is a request about which the SDK would have nothing to say but its answer. */
const isPlainly = (
  message: Message,
  request: IncomingMessage,
): message is Message & { readonly id: RequestId } =>
  message.id !== undefined && hasHeadersOf(message, request) && isModernClaim(claimOf(message));

/** The line that answers, or the call that will; undefined when it is for the SDK. */
function toAnswer(
  message: Message & { readonly id: RequestId },
  service: Service,
  results: Results,
): string | CallRequest | undefined {
  const result = knownResult(message, "modern", results);
  if (result !== undefined) return resultLine(message.id, result);
  if (!isModernCall(message, service)) return undefined;
  return toModernCall(message.id, message, service, results) ?? refuseState(message.id);
}

const isModernClaim = (claim: Claim) => claim.kind === "version" && claim.version === MODERN_VERSION;

/** Only when they are there and equal; what is wrong with them otherwise, the SDK says. */
const hasHeadersOf = ({ method, params }: Message, { headers }: IncomingMessage) =>
  headers["mcp-protocol-version"] === MODERN_VERSION &&
  headers["mcp-method"] === method &&
  (method !== "tools/call" || headers["mcp-name"] === params?.["name"]);

/** It has to wait until one more may run, and counts until its answer was read. */
async function runLargeCall(
  post: ModernPost,
  call: CallRequest,
  edge: CallerEdge,
  { large, limits }: ModernParts,
): Promise<void> {
  await large.enter();
  if (post.response.destroyed) return large.leave();
  post.response.once("close", large.leave);
  return runCall(post, call, edge, limits);
}

function runCall(
  { request, response }: ModernPost,
  call: CallRequest,
  { service, runTool }: CallerEdge,
  limits: Limits,
): Promise<void> {
  const controller = new AbortController();
  const reply = createReply(response, {
    limits,
    takesStream: request.headers.accept?.includes("text/event-stream") ?? false,
    // Closing the response is how this revision cancels.
    onBroken: () => controller.abort("the client closed the connection"),
  });
  const outlet = {
    write: (line: string) => (isNotificationLine(line) ? reply.tell(line) : reply.finish(line)),
    isFull: () => reply.isFull(),
  };
  return answerCall(service, runTool, call, { signal: controller.signal, outlet });
}
