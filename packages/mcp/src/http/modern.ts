import type { IncomingMessage, ServerResponse } from "node:http";
import { type Claim, claimOf, MODERN_VERSION, VERSION_KEY } from "../client-claims.ts";
import { answerCall, type CallRequest } from "../direct-calls.ts";
import { asksForLargeAnswer, type LargeCalls } from "../large-calls.ts";
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
import type { CallerEdge } from "./callers.ts";
import type { Limits } from "./limits.ts";
import type { HttpListens } from "./listens.ts";
import { refuse } from "./refusals.ts";
import { createReply, sendJson } from "./reply.ts";

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
  const { large, listens, limits } = parts;
  const parsed = toMessage(value);
  const message = parsed && isPlainly(parsed, request) ? parsed : undefined;
  const answer = message && toAnswer(message, service, results);
  if (message?.method === LISTEN_METHOD) listens.open(post, message, service);
  else if (typeof answer === "string") sendJson(response, 200, answer);
  else if (answer) void runCall(post, answer, edge, large, limits);
  else
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

async function runCall(
  { request, response }: ModernPost,
  call: CallRequest,
  { service, runTool }: CallerEdge,
  large: LargeCalls,
  limits: Limits,
): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const isLarge = asksForLargeAnswer(call.params.arguments);
  const leave = () => {
    if (isLarge) large.leave();
  };
  if (isLarge) await large.enter();
  if (response.destroyed) return leave();
  response.once("close", () => {
    // Closing the response is how this revision cancels.
    if (!response.writableFinished) controller.abort("the client closed the connection");
    leave();
  });
  const takesStream = request.headers.accept?.includes("text/event-stream") ?? false;
  const reply = createReply(response, { limits, takesStream });
  const outlet = {
    write: (line: string) => (isNotificationLine(line) ? reply.tell(line) : reply.finish(line)),
    get full() {
      return reply.full;
    },
  };
  await answerCall(service, runTool, call, { signal, outlet });
}
