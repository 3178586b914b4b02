import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { toCallToolResult } from "../answer.ts";
import { INTERNAL_ERROR, isPlain, type Plain } from "../messages.ts";
import type { Service } from "../service.ts";
import type { Era } from "./capabilities.ts";
import { declaredBy } from "./sdk-asking.ts";
import { isFinal, knowsTasks, TASKS_EXTENSION, toLegacyTask, toModernTask } from "./task-wire.ts";
import { isUnknownTask, type TaskState, type Tasks } from "./tasks.ts";

export function serveTasks(server: Server, service: Service, tasks: Tasks, era: Era): void {
  const serve = era === "modern" ? serveModern : serveLegacy;
  serve(server, service, tasks);
}

/** tasks/get has all there is; the other two are only acknowledged. */
function serveModern(server: Server, service: Service, tasks: Tasks): void {
  const owner = service.caller.id;
  const handle = (
    method: string,
    answer: (taskId: string, params: Plain, context: ServerContext) => Promise<Plain>,
  ) =>
    server.setRequestHandler(method, ANY_TASK, (params: TaskParams, context) => {
      requireTasks(context);
      return refuseUnknown(params.taskId, () => answer(params.taskId, params, context));
    });
  handle("tasks/get", async (taskId) => toDetailed(service, await tasks.get(owner, taskId)));
  handle("tasks/update", async (taskId, params, { mcpReq }) => {
    // The SDK takes these two members out of every request.
    await tasks.answer(owner, taskId, mcpReq.inputResponses ?? params["inputResponses"]);
    return {};
  });
  handle("tasks/cancel", async (taskId) => {
    await tasks.get(owner, taskId);
    tasks.cancel(owner, taskId).catch((cause) => service.log(`tasks/cancel ${taskId}: ${cause}`));
    return {};
  });
}

function serveLegacy(server: Server, service: Service, tasks: Tasks): void {
  const owner = service.caller.id;
  server.setRequestHandler("tasks/get", ANY_TASK, ({ taskId }: TaskParams) =>
    refuseUnknown(taskId, async () => toLegacyTask((await tasks.get(owner, taskId)).task)),
  );
  server.setRequestHandler("tasks/list", ANY_PARAMS, async ({ cursor }: Plain) => {
    const { tasks: page, next } = await tasks.list(owner, typeof cursor === "string" ? cursor : undefined);
    return { tasks: page.map(toLegacyTask), ...(next !== undefined && { nextCursor: next }) };
  });
  server.setRequestHandler("tasks/result", ANY_TASK, async ({ taskId }: TaskParams, { mcpReq }) => {
    const state = await refuseUnknown(taskId, () => tasks.ended(owner, taskId, mcpReq.signal));
    const related = { "io.modelcontextprotocol/related-task": { taskId } };
    return { ...toResult(service, state), _meta: related };
  });
  server.setRequestHandler("tasks/cancel", ANY_TASK, async ({ taskId }: TaskParams) => {
    const { task } = await refuseUnknown(taskId, () => tasks.get(owner, taskId));
    if (isFinal(task)) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The task has ended already: ${task.status}`);
    }
    await tasks.cancel(owner, taskId);
    return toLegacyTask((await tasks.get(owner, taskId)).task);
  });
}

function toDetailed(service: Service, state: TaskState): Plain {
  const { task, result, inputs } = state;
  const view = toModernTask(task);
  if (task.status === "input_required") return { ...view, inputRequests: inputs };
  if (task.status === "completed") return { ...view, result: toResult(service, state) };
  if (task.status !== "failed") return view;
  return { ...view, error: { code: INTERNAL_ERROR, message: result?.error?.message ?? "the work was lost" } };
}

function toResult({ toResult }: Service, { task, result }: TaskState): Plain {
  if (result)
    return { ...toCallToolResult({ envelope: result, attachments: [], ...(toResult && { toResult }) }) };
  throw new ProtocolError(ProtocolErrorCode.InternalError, `The result of ${task.taskId} has expired`);
}

function requireTasks(context: ServerContext): void {
  if (knowsTasks(declaredBy(context))) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  });
}

async function refuseUnknown<T>(taskId: string, find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (cause) {
    if (!isUnknownTask(cause)) throw cause;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown task: ${taskId}`);
  }
}

type TaskParams = Plain & { readonly taskId: string };

/** The SDK wants a schema for methods that its revision does not have. */
const schemaOf = <T>(expected: string, fits: (value: unknown) => value is T) => ({
  "~standard": {
    version: 1 as const,
    vendor: "octant",
    validate: (value: unknown) => (fits(value) ? { value } : { issues: [{ message: expected }] }),
    types: undefined as { input: T; output: T } | undefined,
  },
});

const ANY_PARAMS = { params: schemaOf("an object", isPlain) };
const ANY_TASK = {
  params: schemaOf(
    "taskId is a string",
    (value): value is TaskParams => isPlain(value) && typeof value["taskId"] === "string",
  ),
};
