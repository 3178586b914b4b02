import { setTimeout as sleep } from "node:timers/promises";
import {
  type Ask,
  type Caller,
  type CallOptions,
  createTopic,
  type Dispatch,
  type Envelope,
  type JobEvent,
  type Question,
  ToolError,
} from "@octant/core";
import type { ServiceOptions } from "@octant/mcp";
import type { Following } from "../mcp/following.ts";
import { EDGE } from "./edge-tool.ts";

type TaskJobs = NonNullable<ServiceOptions["tasks"]>;
type TaskJob = Awaited<ReturnType<TaskJobs["get"]>>;

interface Found {
  readonly job: TaskJob;
  readonly result?: Envelope;
  readonly text?: string;
}

/** How long one question for the end of a job may take. */
const WAIT_MS = 25_000;
const MAX_RETRY_MS = 10_000;

/** The jobs of a server in another process, as tasks. */
export function createRemoteJobs(dispatch: Dispatch, { text }: { readonly text: boolean }): TaskJobs {
  const events = createTopic<JobEvent>({ maxEvents: 0 });
  const ask = async <D>(owner: string, action: string, input: object, signal?: AbortSignal): Promise<D> => {
    const caller: Caller = { id: owner, access: "read" };
    const { envelope } = await dispatch({ tool: EDGE, action, input }, { caller, ...(signal && { signal }) });
    if (!envelope.ok) throw toToolError(envelope);
    // The dispatcher of the server has checked it against the action's output.
    return envelope.data as D;
  };
  const find = async (owner: string, job_id: string, wait = 0, signal?: AbortSignal): Promise<Found> => {
    const found = await ask<Found>(owner, "job", { job_id, wait, text }, signal);
    const { state } = found.job;
    if (state !== "queued" && state !== "running") events.publish({ job_id, owner, type: "end", state });
    return found;
  };
  return {
    events,
    get: async (owner, job_id) => (await find(owner, job_id)).job,
    async result(owner, job_id) {
      const { result, text: shown } = await find(owner, job_id);
      return result && { ...result, ...(shown !== undefined && { text: shown }) };
    },
    list: async ({ owner, before, limit }) =>
      (await ask<{ jobs: readonly TaskJob[] }>(owner, "jobs", { limit, ...(before && { before }) })).jobs,
    cancel: (owner, job_id) => ask(owner, "cancel", { job_id }),
    async ended(owner, job_id, ms, signal) {
      const until = performance.now() + ms;
      for (let left = ms; left > 0 && !signal.aborted; left = until - performance.now()) {
        const { job } = await find(owner, job_id, Math.min(Math.ceil(left), WAIT_MS), signal);
        if (job.state !== "queued" && job.state !== "running") return job;
      }
      return undefined;
    },
  };
}

/** Subscriptions to the resources of a server in another process. They survive its restart. */
export function createRemoteFollowing(dispatch: Dispatch): Following {
  return {
    async subscribe(uri, onChange, { caller, signal }) {
      const following = follow(dispatch, { caller, action: "subscribe", input: { uri } }, onChange);
      const stop = () => following.stop();
      signal.addEventListener("abort", stop, { once: true });
      const refusal = await following.started;
      if (!refusal) return stop;
      stop();
      if (refusal.code === "NOT_FOUND") return undefined;
      throw refusal;
    },
    onListChange: (listener, { caller }) =>
      follow(dispatch, { caller, action: "follow_list", input: {} }, listener).stop,
  };
}

/** Calls back whenever the tools of a server in another process have changed; resolves once it follows them. */
export async function followTools(
  dispatch: Dispatch,
  caller: Caller,
  onChange: () => void,
): Promise<() => void> {
  const { started, stop } = follow(dispatch, { caller, action: "follow_tools", input: {} }, onChange);
  await started;
  return stop;
}

interface Followed {
  readonly caller: Caller;
  readonly action: string;
  readonly input: object;
}

/** Calls until it is stopped: a server that goes away is called again, and counts as changed meanwhile. */
function follow(dispatch: Dispatch, { caller, action, input }: Followed, onChange: () => void) {
  const controller = new AbortController();
  const { signal } = controller;
  const started = Promise.withResolvers<ToolError | undefined>();
  let isStarted = false;
  const onProgress = () => {
    if (isStarted && !signal.aborted) onChange();
    isStarted = true;
    started.resolve(undefined);
  };
  const run = async () => {
    for (let pause = 250; !signal.aborted; pause = Math.min(pause * 2, MAX_RETRY_MS)) {
      const since = performance.now();
      const { envelope } = await dispatch({ tool: EDGE, action, input }, { caller, signal, onProgress });
      if (signal.aborted) return;
      if (!isStarted) return started.resolve(toToolError(envelope));
      if (performance.now() - since > MAX_RETRY_MS) pause = 250;
      await sleep(pause, undefined, { signal, ref: false });
    }
  };
  run().catch(() => started.resolve(undefined));
  return { started: started.promise, stop: () => controller.abort("unsubscribed") };
}

const toToolError = ({ error }: Envelope): ToolError =>
  error
    ? new ToolError(error.code, error.message, error.details)
    : new ToolError("UPSTREAM_ERROR", "the server ended the subscription", {});

/** Forwards the questions of a job until it has ended. */
type FollowQuestions = (job_id: string, options: Pick<CallOptions, "caller" | "ask">) => Promise<unknown>;

/** A dispatcher in another process, whose jobs reach the person also after their call was answered. */
export const askLate =
  (
    dispatch: Dispatch,
    follow: FollowQuestions = (job_id, options) =>
      dispatch({ tool: EDGE, action: "questions", input: { job_id } }, options),
  ): Dispatch =>
  async (call, options) => {
    const { ask, caller } = options;
    if (!ask) return dispatch(call, options);
    const askOnce = createAskOnce(ask);
    const reply = await dispatch(call, { ...options, ask: askOnce });
    const { job_id } = reply.envelope.meta;
    if (job_id === undefined) return reply;
    const ended = new AbortController();
    const end = () => ended.abort();
    const askHere: Ask = (question, signal) => askOnce(question, AbortSignal.any([signal, ended.signal]));
    void follow(job_id, { caller, ask: askHere }).then(end, end);
    return reply;
  };

/** A question that waits when its call is answered comes again; the person sees it once. */
function createAskOnce(ask: Ask): Ask {
  const open = new Map<string, { readonly asked: ReturnType<Ask>; readonly view: AbortController }>();
  const show = (question: Question) => {
    const view = new AbortController();
    return { view, asked: ask(question, view.signal).finally(() => open.delete(question.question_id)) };
  };
  return (question, signal) => {
    const { question_id } = question;
    const { asked, view } = open.get(question_id) ?? show(question);
    open.set(question_id, { asked, view });
    signal.addEventListener("abort", () => view.abort(signal.reason), { once: true });
    return asked;
  };
}
