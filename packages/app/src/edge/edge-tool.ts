import {
  action,
  type Context,
  createDispatcher,
  createRegistry,
  createToText,
  type Dispatch,
  type DispatcherOptions,
  defineTool,
  JOB_STATES,
  JobId,
  type Jobs,
  orAborted,
  type Questions,
  type Registry,
  ToolError,
} from "@octant/core";
import { z } from "zod";
import { HOST, type HostSources, hostTool } from "../host/host-tool.ts";
import type { ResourceSource } from "../mcp/calls.ts";

/** The name under which a server answers edges. It is on no list of tools, so no model sees it. */
export const EDGE = "edge";

export interface EdgeSources extends HostSources {
  readonly registry: Registry;
  readonly roots: readonly string[];
  readonly jobs: Pick<Jobs, "get" | "result" | "list" | "cancel" | "ended">;
  readonly resources: Pick<ResourceSource, "subscribe" | "onListChange">;
  readonly questions: Questions;
}

const MAX_WAIT_MS = 50_000;

const JobFacts = z.object({
  job_id: JobId,
  tool: z.string(),
  action: z.string(),
  state: z.enum(JOB_STATES),
  progress: z.unknown(),
  created_at: z.number(),
  updated_at: z.number(),
  expires_at: z.number(),
});

/** Every action concerns the caller's own jobs and subscriptions, which MCP lets any caller have. */
const declare = { access: "read", timing: "sync", intent: "inspect" } as const;
const EXAMPLE = "job_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";
const UNKNOWN = { title: "Unknown", fails: "NOT_FOUND" } as const;

/** Services for an edge in another process besides the tools: jobs that it shows as tasks, and changes of resources. */
const edge = ({ registry, roots, jobs, resources, questions }: EdgeSources) =>
  defineTool({
    name: EDGE,
    summary: "Tasks and subscriptions for edges in other processes.",
    actions: {
      job: action({
        ...declare,
        summary: "A job and its result; waits for the end when asked to.",
        input: z.strictObject({
          job_id: JobId,
          wait: z.int().min(0).max(MAX_WAIT_MS).default(0),
          text: z.boolean().default(false).describe("The result as text for a model, too"),
        }),
        output: z.object({ job: JobFacts, result: z.unknown().optional(), text: z.string().optional() }),
        errors: ["NOT_FOUND"],
        examples: [{ ...UNKNOWN, input: { job_id: EXAMPLE } }],
        async run({ job_id, wait, text }, { caller, signal }) {
          const job =
            wait > 0 ? await jobs.ended(caller.id, job_id, wait, signal) : await jobs.get(caller.id, job_id);
          const result = await jobs.result(caller.id, job_id);
          const shown = result && text ? { text: createToText(registry, roots)(result) } : {};
          return { job, ...(result && { result }), ...shown };
        },
      }),
      jobs: action({
        ...declare,
        summary: "The caller's jobs, newest first.",
        input: z.strictObject({ before: JobId.optional(), limit: z.int().min(1).max(1_000).default(50) }),
        output: z.object({ jobs: z.array(JobFacts) }),
        examples: [{ title: "All", input: {} }],
        run: async ({ before, limit }, { caller }) => ({
          jobs: [...(await jobs.list({ owner: caller.id, limit, ...(before && { before }) }))],
        }),
      }),
      cancel: action({
        ...declare,
        summary: "Cancel a job.",
        input: z.strictObject({ job_id: JobId }),
        output: z.object({ job: JobFacts }),
        errors: ["NOT_FOUND"],
        examples: [{ ...UNKNOWN, input: { job_id: EXAMPLE } }],
        run: async ({ job_id }, { caller }) => ({ job: await jobs.cancel(caller.id, job_id) }),
      }),
      subscribe: action({
        ...declare,
        summary: "Report progress once it follows the resource, then at each change, until cancelled.",
        input: z.strictObject({ uri: z.string() }),
        output: z.object({}),
        errors: ["NOT_FOUND"],
        examples: [{ ...UNKNOWN, input: { uri: "octant://job/nope" } }],
        run: ({ uri }, ctx) =>
          untilCancelled(ctx, async (report) => {
            const stop = await resources.subscribe?.(uri, report, ctx);
            if (!stop) throw new ToolError("NOT_FOUND", `there is no resource ${uri}`, { uri });
            return stop;
          }),
      }),
      follow_list: action({
        ...declare,
        summary: "Report progress at once, then whenever the list of resources changes, until cancelled.",
        input: z.strictObject({}),
        output: z.object({}),
        examples: [{ title: "Follow it", input: {} }],
        run: (_, ctx) => untilCancelled(ctx, (report) => resources.onListChange?.(report, ctx)),
      }),
      follow_tools: action({
        ...declare,
        summary: "Report progress at once, then whenever a tool is added or removed, until cancelled.",
        input: z.strictObject({}),
        output: z.object({}),
        examples: [{ title: "Follow them", input: {} }],
        run: (_, ctx) => untilCancelled(ctx, (report) => registry.changes.listen(report)),
      }),
      questions: action({
        ...declare,
        summary:
          "Forward the questions of a job to the person after its call was answered, until the job has ended.",
        input: z.strictObject({ job_id: JobId }),
        output: z.object({ job: JobFacts }),
        errors: ["NOT_FOUND"],
        examples: [{ ...UNKNOWN, input: { job_id: EXAMPLE } }],
        async run({ job_id }, { caller, signal, front: ask }) {
          let job = await jobs.get(caller.id, job_id);
          const leave = ask && questions.follow({ ask, matches: (one) => one.job_id === job_id });
          try {
            while (job.state === "queued" || job.state === "running") {
              signal.throwIfAborted();
              job = await jobs.ended(caller.id, job_id, MAX_WAIT_MS, signal);
            }
            return { job };
          } finally {
            leave?.();
          }
        },
      }),
    },
  });

/** Reports progress once `follow` has begun, and at each change that it reports. */
async function untilCancelled(
  { signal, progress }: Context,
  follow: (report: () => void) => Promise<() => void> | (() => void) | undefined,
): Promise<never> {
  let changes = 0;
  const report = () => progress({ progress: changes++ });
  const stop = await follow(report);
  report();
  // Only the caller ends it.
  return orAborted(new Promise<never>(() => {}), signal).finally(() => stop?.());
}

/**
 * A dispatcher for wires: the tools, plus the requests of edges, which are not subject to permissions or the audit
 * log.
 */
export function createWireDispatch(
  sources: EdgeSources & { readonly dispatch: Dispatch } & Pick<DispatcherOptions, "cursors" | "onBug">,
): Dispatch {
  const { cursors, onBug, dispatch } = sources;
  // Most servers have no wire.
  let forEdges: Dispatch | undefined;
  const open = () =>
    createDispatcher({ registry: createRegistry([edge(sources), hostTool(sources)]), cursors, onBug });
  return (call, options) => {
    if (call.tool !== EDGE && call.tool !== HOST) return dispatch(call, options);
    forEdges ??= open();
    return forEdges(call, options);
  };
}
