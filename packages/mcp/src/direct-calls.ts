import { asksForLargeAnswer, type CallOptions, createLargeCalls } from "@octant/core";
import { encodeCallToolResult } from "./answer.ts";
import {
  errorLine,
  hasOnly,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  isPlain,
  isToken,
  notificationLine,
  type Plain,
  type RequestId,
  resultLine,
} from "./messages.ts";
import type { Service } from "./service.ts";
import { type ProgressParams, type RunTool, unknownTool } from "./tool-runner.ts";

/** Where lines go. */
export interface Outlet {
  /** `about` is the request that the line belongs to; where all lines go the same way it does not matter. */
  write(line: string, about?: RequestId): void;
  /** While true, what can be left out is. */
  isFull(): boolean;
  /** False while nobody would get what belongs to no request. */
  readonly hasListener?: boolean;
}

export interface CallRequest {
  readonly id: RequestId;
  readonly params: CallParams;
  readonly meta: Plain | undefined;
  /** The last members of the result. */
  readonly stamp: string;
  readonly asking: CallAsking;
}

/** How the person at the client can be asked during a call. */
export interface CallAsking {
  readonly ask: NonNullable<CallOptions["ask"]>;
  /** The result, as JSON, that puts a question instead of the answer; undefined when there is none to put. */
  question?(): string | undefined;
}

/** The tool calls of one connection. They run at the same time; each is answered when it is done. */
export interface DirectCalls {
  start(request: CallRequest): void;
  /** A cancelled call is not answered. */
  cancel(params: Plain | undefined): void;
  cancelAll(): void;
  /** The outlet is no longer full. */
  resume(): void;
}

export function createDirectCalls(service: Service, runTool: RunTool, outlet: Outlet): DirectCalls {
  const running = new Map<RequestId, AbortController>();
  const large = createLargeCalls(outlet.isFull);

  return {
    async start(request) {
      const { id, params } = request;
      const controller = new AbortController();
      const { signal } = controller;
      running.set(id, controller);
      const isLarge = asksForLargeAnswer(params.arguments);
      if (isLarge) await large.enter();
      if (!signal.aborted) await answerCall(service, runTool, request, { signal, outlet });
      if (isLarge) large.leave();
      if (running.get(id) === controller) running.delete(id);
    },
    resume: large.resume,
    cancel(params) {
      if (isCancellation(params)) running.get(params.requestId)?.abort(params.reason);
    },
    cancelAll() {
      for (const controller of running.values()) controller.abort("the connection closed");
    },
  };
}

/** Runs one call and writes what comes of it, in the end its answer. A cancelled call is not answered. */
export async function answerCall(
  service: Service,
  runTool: RunTool,
  request: CallRequest,
  { signal, outlet }: { readonly signal: AbortSignal; readonly outlet: Outlet },
): Promise<void> {
  const { id, params, meta, asking } = request;
  const notify = (update: ProgressParams) => {
    if (!signal.aborted && !outlet.isFull())
      outlet.write(notificationLine("notifications/progress", update), id);
  };
  const reply = runTool(
    { name: params.name, args: params.arguments ?? {}, meta },
    { signal, notify, ask: asking.ask },
  );
  if (!reply) return outlet.write(errorLine(id, INVALID_PARAMS, unknownTool(params.name, service)), id);
  const line = await encodeAnswer(service, request, reply);
  const question = asking.question?.();
  if (!signal.aborted) outlet.write(question === undefined ? line : resultLine(id, question), id);
}

async function encodeAnswer(
  service: Service,
  { id, params, stamp }: CallRequest,
  reply: NonNullable<ReturnType<RunTool>>,
): Promise<string> {
  try {
    return resultLine(id, encodeCallToolResult(await reply, stamp));
  } catch (cause) {
    service.log(`tools/call ${params.name} failed outside the dispatcher: ${cause}`);
    return errorLine(id, INTERNAL_ERROR, "Internal error");
  }
}

export interface CallParams {
  readonly name: string;
  readonly arguments?: Plain;
}

const CALL_MEMBERS = new Set(["name", "arguments", "_meta"]);
/** A retry brings the answers to what was asked. */
export const RETRY_MEMBERS: ReadonlySet<string> = new Set([
  ...CALL_MEMBERS,
  "inputResponses",
  "requestState",
]);

/** Requests for tasks have other members; they are the SDK's. */
export const isCallParams = (
  params: Plain | undefined,
  members: ReadonlySet<string> = CALL_MEMBERS,
): params is Plain & CallParams =>
  params !== undefined &&
  typeof params["name"] === "string" &&
  (params["arguments"] === undefined || isArguments(params["arguments"])) &&
  hasOnly(params, members);

/** The SDK drops this one name from a record, whatever the tool says to it. */
const isArguments = (args: unknown) => isPlain(args) && !Object.hasOwn(args, "__proto__");

interface Cancellation {
  readonly requestId: RequestId;
  readonly reason?: string;
}

const isCancellation = (params: Plain | undefined): params is Plain & Cancellation =>
  params !== undefined &&
  isToken(params["requestId"]) &&
  (params["reason"] === undefined || typeof params["reason"] === "string");
