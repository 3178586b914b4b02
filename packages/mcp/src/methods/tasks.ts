import type { Envelope } from "@octant/core";
import { MISSING } from "../asking/input-required.ts";
import type { McpRequest } from "../connection.ts";
import {
  INTERNAL_ERROR,
  invalidParams,
  MISSING_CAPABILITY,
  type Plain,
  ProtocolError,
  stringOf,
} from "../messages.ts";
import { isFinal, knowsTasks, TASKS_EXTENSION, toLegacyTask, toModernTask } from "../tasks/task-wire.ts";
import { isUnknownTask, type TaskState, type Tasks } from "../tasks/tasks.ts";
import type { Method } from "./index.ts";
import { cursorOf } from "./params.ts";

/** One task of the caller. */
interface TaskRequest {
  readonly request: McpRequest;
  readonly tasks: Tasks;
  readonly owner: string;
  readonly taskId: string;
}

const onTask =
  (answer: (task: TaskRequest) => Promise<Plain>): Method =>
  async (request) => {
    const { service, params } = request;
    const taskId = stringOf(params, "taskId");
    try {
      return await answer({ request, tasks: tasksOf(request), owner: service.caller.id, taskId });
    } catch (cause) {
      if (!isUnknownTask(cause)) throw cause;
      throw invalidParams(`Unknown task: ${taskId}`);
    }
  };

/** Only for clients that declared the extension. */
const onModernTask = (answer: (task: TaskRequest) => Promise<Plain>): Method => {
  const run = onTask(answer);
  return (request) => {
    if (knowsTasks(request.capabilities)) return run(request);
    const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };
    throw new ProtocolError(MISSING_CAPABILITY, MISSING, { requiredCapabilities });
  };
};

/** `tasks/get` returns the whole task; the other two only an acknowledgement. */
export const MODERN_TASK_METHODS: Readonly<Record<string, Method>> = {
  "tasks/get": onModernTask(async ({ request, tasks, owner, taskId }) =>
    toDetailed(request, await tasks.get(owner, taskId)),
  ),
  "tasks/update": onModernTask(async ({ request, tasks, owner, taskId }) => {
    await tasks.answer(owner, taskId, request.params["inputResponses"]);
    return {};
  }),
  "tasks/cancel": onModernTask(async ({ request, tasks, owner, taskId }) => {
    await tasks.get(owner, taskId);
    tasks.cancel(owner, taskId).catch((cause) => request.service.log(`tasks/cancel ${taskId}: ${cause}`));
    return {};
  }),
};

export const LEGACY_TASK_METHODS: Readonly<Record<string, Method>> = {
  "tasks/get": onTask(async ({ tasks, owner, taskId }) =>
    toLegacyTask((await tasks.get(owner, taskId)).task),
  ),
  "tasks/list": async (request) => {
    const { tasks, next } = await tasksOf(request).list(request.service.caller.id, cursorOf(request.params));
    return { tasks: tasks.map(toLegacyTask), ...(next !== undefined && { nextCursor: next }) };
  },
  "tasks/result": onTask(async ({ request, tasks, owner, taskId }) => {
    const state = await tasks.ended(owner, taskId, request.signal);
    const _meta = { "io.modelcontextprotocol/related-task": { taskId } };
    return { ...toResult(request, state), _meta };
  }),
  "tasks/cancel": onTask(async ({ tasks, owner, taskId }) => {
    const { task } = await tasks.get(owner, taskId);
    if (isFinal(task)) throw invalidParams(`The task has ended already: ${task.status}`);
    await tasks.cancel(owner, taskId);
    return toLegacyTask((await tasks.get(owner, taskId)).task);
  }),
};

function toDetailed(request: McpRequest, state: TaskState): Plain {
  const { task, result, inputs } = state;
  const view = toModernTask(task);
  if (task.status === "input_required") return { ...view, inputRequests: inputs };
  if (task.status === "completed") return { ...view, result: toResult(request, state) };
  if (task.status !== "failed") return view;
  return { ...view, error: { code: INTERNAL_ERROR, message: result?.error?.message ?? "the work was lost" } };
}

function toResult({ service, answers }: McpRequest, { task, result }: TaskState): Plain {
  if (result) {
    const { text, ...envelope } = result;
    // The rest of a union loses its kind.
    const reply = { envelope: envelope as Envelope, attachments: [], ...(text !== undefined && { text }) };
    return { ...service.toResult[answers()](reply) };
  }
  throw new ProtocolError(INTERNAL_ERROR, `The result of ${task.taskId} has expired`);
}

/** These methods exist only where there are tasks. */
const tasksOf = ({ service }: McpRequest): Tasks => service.tasks as Tasks;
