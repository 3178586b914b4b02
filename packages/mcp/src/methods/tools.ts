import { setTimeout as delay } from "node:timers/promises";
import {
  type Answers,
  type CallOptions,
  type Clock,
  createCallRunner,
  type Listing,
  type Reply,
  TIMINGS,
} from "@octant/core";
import type { Exchange } from "../asking/exchange.ts";
import type { McpRequest } from "../connection.ts";
import type { Era } from "../era.ts";
import { invalidParams, isPlain, type Plain, type RequestId, stringOf, toNotification } from "../messages.ts";
import type { Service } from "../service.ts";
import { jobOf, knowsTasks, toLegacyTask, toModernTask } from "../tasks/task-wire.ts";
import { createTaskInputs, type TaskInputs, type Tasks } from "../tasks/tasks.ts";
import { refuseCursor } from "./params.ts";

export function listTools(request: McpRequest): Plain {
  refuseCursor(request.params);
  return toToolList(request.service, request.era, request.answers());
}

export function toToolList({ listing, tasks }: Service, era: Era, answers: Answers): Plain {
  const current = listing.current(answers);
  return { tools: era === "legacy" && tasks ? toLegacyTools(current) : current.tools };
}

/** Shows clients of the handshake revisions which tools may become tasks. */
export const toLegacyTools = ({ tools, offer }: Pick<Listing, "tools" | "offer">): readonly object[] =>
  tools.map((tool) => {
    const { mayBeTask, isMinimal } = offer(tool.name) ?? {};
    return mayBeTask && !isMinimal ? { ...tool, execution: { taskSupport: "optional" } } : tool;
  });

export async function callTool(request: McpRequest): Promise<Plain> {
  const { service, params, meta, signal } = request;
  const name = stringOf(params, "name");
  const { arguments: args = {} } = params;
  if (!isPlain(args)) throw invalidParams("Invalid params: arguments must be an object");
  const listing = service.listing.current();
  const call = listing.toCall(name, args);
  if (!call)
    throw invalidParams(`Unknown tool: ${name}; tools: ${listing.tools.map((tool) => tool.name).join(", ")}`);
  if (request.era === "legacy" && params["task"] !== undefined && !isPlain(params["task"]))
    throw invalidParams("Invalid params: task must be an object");
  let inputs: TaskInputs | undefined;
  // Messages were validated before: a token is a string or an integer.
  const progressToken = meta?.["progressToken"] as RequestId | undefined;
  const reply = await request.runTool(call, {
    signal,
    traceparent: meta?.["traceparent"],
    ...(progressToken !== undefined && {
      onProgress: ({ progress, total, message }) => {
        if (!request.isFull())
          request.write(
            toNotification("notifications/progress", { progressToken, progress, total, message }),
          );
      },
    }),
    // The questions of a task wait until the client fetches them.
    ask: (question, askSignal) => (inputs ?? request.client()).ask(question, askSignal),
    ...(listing.offer(name)?.usesClient && { exchange: request.client().exchange }),
    ...toJobOptions(meta),
  });
  if (asksForTask(request, reply)) {
    inputs = request.era === "modern" ? createTaskInputs() : undefined;
    return toTaskResult(request, reply, inputs);
  }
  return { ...service.toResult[request.answers()](reply) };
}

/** Dispatches the calls of one connection, or of one caller where there are no connections. */
export type RunTool = (
  call: Parameters<ReturnType<typeof createCallRunner>>[0],
  options: Omit<CallOptions, "caller"> & { readonly exchange?: Exchange },
) => Promise<Reply>;

export const createToolRunner = ({ dispatch, caller }: Service, maxInFlight?: number): RunTool =>
  createCallRunner({
    dispatch,
    caller,
    clock: monotonicClock,
    ...(maxInFlight !== undefined && { maxInFlight }),
  });

/** Does not keep the process alive. */
const monotonicClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => {}),
};

/** The job options that an Octant client can set in `_meta`; other members are ignored. */
function toJobOptions(meta: Plain | undefined): Pick<CallOptions, "timingHint" | "key"> {
  const timingHint = TIMINGS.find((timing) => timing === meta?.["octant/timing_hint"]);
  const key = meta?.["octant/key"];
  return { ...(timingHint && { timingHint }), ...(typeof key === "string" && key !== "" && { key }) };
}

/** In the handshake revisions the client requests a task; in the modern one it declares support for tasks. */
function asksForTask({ service, era, params, capabilities }: McpRequest, { envelope }: Reply): boolean {
  if (!service.tasks) return false;
  if (era === "legacy") return params["task"] !== undefined;
  return knowsTasks(capabilities) && jobOf(envelope) !== undefined;
}

async function toTaskResult(
  { service: { tasks, caller }, era }: McpRequest,
  reply: Reply,
  inputs: TaskInputs | undefined,
): Promise<Plain> {
  const job = jobOf(reply.envelope);
  // `asksForTask` has checked that there are tasks.
  const known = tasks as Tasks;
  const task = job === undefined ? known.store(caller.id, reply) : await known.begin(caller.id, job, inputs);
  return era === "modern" ? { resultType: "task", ...toModernTask(task) } : { task: toLegacyTask(task) };
}
