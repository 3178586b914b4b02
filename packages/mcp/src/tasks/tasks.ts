import {
  type Ask,
  type Envelope,
  type JobFilter,
  type Jobs,
  newHandle,
  type Question,
  type QuestionAnswer,
  type Reply,
  ToolError,
} from "@octant/core";
import type { InputRequests } from "../asking/exchange.ts";
import { toAnswer, toElicitation } from "../asking/forms.ts";
import { isPlain } from "../messages.ts";
import { isFinal, type Task, type TaskJob, toTask, toTimestamp } from "./task-wire.ts";

/** How many answers are stored for clients that requested a task where there was none. */
const MAX_STORED = 64;
const STORED_MS = 300_000;
const PAGE = 50;
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000;

/** An envelope and, from tools in another process, its text for a model. */
export type TaskResult = Envelope & { readonly text?: string };

/** The jobs behind tasks: those of this process, or of a server elsewhere. */
export interface TaskJobs {
  readonly events: Pick<Jobs["events"], "listen">;
  get(owner: string, job_id: string): Promise<TaskJob>;
  result(owner: string, job_id: string): Promise<TaskResult | undefined>;
  list(filter: Pick<JobFilter, "before" | "limit"> & { readonly owner: string }): Promise<readonly TaskJob[]>;
  cancel(owner: string, job_id: string): Promise<unknown>;
  /** Resolves when the job has ended or the time is up. */
  ended(owner: string, job_id: string, ms: number, signal: AbortSignal): Promise<unknown>;
}

export interface TaskState {
  readonly task: Task;
  /** Set when the task has ended with a result. */
  readonly result: TaskResult | undefined;
  readonly inputs: InputRequests;
}

/** Jobs as tasks. Only its owner can find a task; an unknown one is the ToolError NOT_FOUND. */
export type Tasks = ReturnType<typeof createTasks>;

export function createTasks(jobs: TaskJobs) {
  const asking = new Map<string, TaskInputs>();
  const stored = new Map<string, { readonly owner: string; readonly state: TaskState }>();
  const stop = jobs.events.listen(({ value }) => value.type === "end" && asking.delete(value.job_id));

  const storedOf = (owner: string, taskId: string) => {
    const found = stored.get(taskId);
    return found?.owner === owner ? found.state : undefined;
  };
  const find = async (owner: string, taskId: string): Promise<TaskState> => {
    const known = storedOf(owner, taskId);
    if (known) return known;
    const job = await jobs.get(owner, taskId);
    const result = await jobs.result(owner, taskId);
    const inputs = asking.get(taskId)?.pending() ?? {};
    return { task: toTask(job, result, Object.keys(inputs).length > 0), result, inputs };
  };

  return {
    /** Routes the questions of the job's work to the task, if there are inputs for them. */
    async begin(owner: string, taskId: string, inputs: TaskInputs | undefined): Promise<Task> {
      const { task } = await find(owner, taskId);
      if (inputs && task.status === "working") asking.set(taskId, inputs);
      return task;
    },
    /** A task for an immediate answer, for a client that requested one. */
    store(owner: string, { envelope }: Reply): Task {
      const now = Date.now();
      const at = toTimestamp(now);
      const task: Task = {
        taskId: newHandle("job", now),
        status: "completed",
        createdAt: at,
        lastUpdatedAt: at,
        ttl: STORED_MS,
      };
      stored.set(task.taskId, { owner, state: { task, result: envelope, inputs: {} } });
      const [oldest] = stored.keys();
      if (stored.size > MAX_STORED && oldest !== undefined) stored.delete(oldest);
      return task;
    },
    get: find,
    async list(owner: string, before: string | undefined) {
      const page = await jobs.list({ owner, limit: PAGE + 1, ...(before !== undefined && { before }) });
      const shown = page.slice(0, PAGE).map(({ job_id }) => find(owner, job_id));
      const tasks = (await Promise.all(shown)).map(({ task }) => task);
      return { tasks, next: page.length > PAGE ? tasks.at(-1)?.taskId : undefined };
    },
    async answer(owner: string, taskId: string, responses: unknown): Promise<void> {
      await find(owner, taskId);
      asking.get(taskId)?.answer(responses);
    },
    /** Resolves when the work has ended. */
    async cancel(owner: string, taskId: string): Promise<void> {
      const { task } = await find(owner, taskId);
      if (isFinal(task)) return;
      asking.get(taskId)?.close();
      await jobs.cancel(owner, taskId);
    },
    async ended(owner: string, taskId: string, signal: AbortSignal): Promise<TaskState> {
      if (storedOf(owner, taskId)) return find(owner, taskId);
      await jobs.ended(owner, taskId, LONGEST_WAIT_MS, signal);
      signal.throwIfAborted();
      return find(owner, taskId);
    },
    close: stop,
  };
}

/** Whether the failure means that there is no such task. */
export const isUnknownTask = (cause: unknown): boolean =>
  cause instanceof ToolError && cause.code === "NOT_FOUND";

interface Waiting extends PromiseWithResolvers<QuestionAnswer> {
  readonly question: Question;
}

/** The questions of work that continues after its call was answered; they wait until a client answers them. */
export type TaskInputs = ReturnType<typeof createTaskInputs>;

export function createTaskInputs() {
  const waiting = new Map<string, Waiting>();
  let asked = 0;
  return {
    ask: (async (question, signal) => {
      const entry = { question, ...Promise.withResolvers<QuestionAnswer>() };
      // Names are never reused during a task: a late answer must match nothing.
      const name = `ask-${++asked}`;
      waiting.set(name, entry);
      signal.addEventListener("abort", () => waiting.delete(name), { once: true });
      return entry.promise;
    }) satisfies Ask,
    pending: (): InputRequests =>
      Object.fromEntries([...waiting].map(([name, { question }]) => [name, toElicitation(question)])),
    /** Accepts the answers to open questions and ignores the rest. */
    answer(responses: unknown): void {
      if (!isPlain(responses)) return;
      for (const [name, { question, resolve }] of [...waiting]) {
        if (!Object.hasOwn(responses, name)) continue;
        waiting.delete(name);
        resolve(toAnswer(question, responses[name]));
      }
    },
    /** Rejects further answers. */
    close(): void {
      const cancelled = new ToolError("CANCELLED", "the task was cancelled before it was answered", {});
      for (const { reject } of waiting.values()) reject(cancelled);
      waiting.clear();
    },
  };
}
