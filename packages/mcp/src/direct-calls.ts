import { encodeCallToolResult } from "./answer.ts";
import { asksForLargeAnswer, createLargeCalls } from "./large-calls.ts";
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
  write(line: string): void;
  /** While true, what can be left out is. */
  readonly full: boolean;
}

export interface CallRequest {
  readonly id: RequestId;
  readonly params: CallParams;
  readonly meta: Plain | undefined;
  /** The last members of the result. */
  readonly stamp: string;
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
  const large = createLargeCalls(outlet);

  const finish = async (request: CallRequest, reply: NonNullable<ReturnType<RunTool>>) => {
    try {
      return resultLine(request.id, encodeCallToolResult(await reply, request.stamp));
    } catch (cause) {
      service.log(`tools/call ${request.params.name} failed outside the dispatcher: ${cause}`);
      return errorLine(request.id, INTERNAL_ERROR, "Internal error");
    }
  };
  const run = async (request: CallRequest, signal: AbortSignal) => {
    const { id, params, meta } = request;
    const notify = (update: ProgressParams) => {
      if (!signal.aborted && !outlet.full) outlet.write(notificationLine("notifications/progress", update));
    };
    const reply = runTool({ name: params.name, args: params.arguments ?? {}, meta }, { signal, notify });
    if (!reply) return outlet.write(errorLine(id, INVALID_PARAMS, unknownTool(params.name, service)));
    const line = await finish(request, reply);
    if (!signal.aborted) outlet.write(line);
  };
  return {
    async start(request) {
      const { id, params } = request;
      const controller = new AbortController();
      const { signal } = controller;
      running.set(id, controller);
      const isLarge = asksForLargeAnswer(params.arguments);
      if (isLarge) await large.enter();
      if (!signal.aborted) await run(request, signal);
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

export interface CallParams {
  readonly name: string;
  readonly arguments?: Plain;
}

const CALL_MEMBERS = new Set(["name", "arguments", "_meta"]);

/** Retries with input and requests for tasks have other members; they are the SDK's. */
export const isCallParams = (params: Plain | undefined): params is Plain & CallParams =>
  params !== undefined &&
  typeof params["name"] === "string" &&
  (params["arguments"] === undefined || isArguments(params["arguments"])) &&
  hasOnly(params, CALL_MEMBERS);

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
