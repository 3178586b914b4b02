import {
  type Action,
  action,
  type Context,
  createListing,
  createRegistry,
  defineTool,
  invalidArgument,
  newHandle,
  type Tool,
  ToolError,
} from "@octant/core";
import { z } from "zod";
import type { CallerTool } from "./hub-session.ts";

export type CallerResponse = { readonly result: unknown } | { readonly error: string };

export type CallerCalls = ReturnType<typeof createCallerCalls>;

/** Calls of a session that wait for its caller. */
export function createCallerCalls() {
  const waiting = new Map<string, (response: CallerResponse) => void>();
  return {
    /** False when no call with this id waits in this session. */
    respond(session_id: string, request_id: string, response: CallerResponse): boolean {
      const answer = waiting.get(`${session_id} ${request_id}`);
      answer?.(response);
      return answer !== undefined;
    },
    async wait(
      session_id: string,
      request_id: string,
      ms: number,
      signal: AbortSignal,
    ): Promise<CallerResponse> {
      const key = `${session_id} ${request_id}`;
      const { promise, resolve, reject } = Promise.withResolvers<CallerResponse>();
      const late = new ToolError("TIMEOUT", `the caller did not answer within ${ms / 1_000} s`, {
        after_ms: ms,
      });
      const timer = setTimeout(() => reject(late), ms);
      const stop = () => reject(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      waiting.set(key, resolve);
      try {
        return await promise;
      } finally {
        waiting.delete(key);
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
      }
    },
  };
}

export interface CallerToolOptions {
  readonly session_id: string;
  readonly tools: readonly CallerTool[];
  readonly calls: CallerCalls;
  /** Tells the caller about a call, durably. */
  announce(request: CallerRequest): Promise<void>;
}

/** The event that asks a caller to run one of its tools. */
export interface CallerRequest {
  readonly request_id: string;
  readonly tool: string;
  readonly input: unknown;
}

/** Throws INVALID_ARGUMENT for tools that no session could offer to its model. */
export function checkCallerTools(tools: readonly CallerTool[]): void {
  for (const { name, input_schema } of tools) toZod(name, input_schema);
  const twice = tools.find(({ name }, n) => tools.findIndex((one) => one.name === name) !== n);
  if (twice) throw invalidArgument("caller_tools", `two tools are called '${twice.name}'; rename one`);
  const checked = { session_id: "", calls: createCallerCalls(), announce: async () => {} };
  const tool = callerTool({ ...checked, tools });
  if (!tool) return;
  try {
    createListing({ registry: createRegistry([tool]) });
  } catch (cause) {
    // The list of tools is one schema for all actions; its errors say what two of them disagree about.
    if (cause instanceof TypeError) throw invalidArgument("caller_tools", cause.message);
    throw cause;
  }
}

/** The caller's tools as one tool of the session, each an action; undefined when there are none. */
export function callerTool({ session_id, tools, calls, announce }: CallerToolOptions): Tool | undefined {
  if (tools.length === 0) return undefined;
  const toAction = ({ name, description, input_schema, timeout_s }: CallerTool): Action => {
    const schema = toZod(name, input_schema);
    return action({
      summary: description,
      access: "write",
      timing: "sync",
      intent: "apply",
      openWorld: true,
      input: z.looseObject(schema.shape),
      output: z.object({ result: z.unknown() }),
      errors: ["TIMEOUT", "UPSTREAM_ERROR"],
      examples: [{ title: description, input: {} }],
      async run(input, { signal }: Context) {
        const request_id = newHandle("request", Date.now());
        const answered = calls.wait(session_id, request_id, timeout_s * 1_000, signal);
        answered.catch(() => {});
        await announce({ request_id, tool: name, input });
        const response = await answered;
        if ("error" in response) throw new ToolError("UPSTREAM_ERROR", response.error, {});
        return { result: response.result };
      },
    });
  };
  return defineTool({
    name: "caller",
    summary: "Tools of the program that started this session.",
    actions: Object.fromEntries(tools.map((tool) => [tool.name, toAction(tool)])),
  });
}

/** Throws INVALID_ARGUMENT for a schema that is not an object's. */
function toZod(name: string, schema: CallerTool["input_schema"]): z.ZodObject {
  try {
    // The declaration says that it is JSON Schema; what zod cannot read is refused below.
    const parsed = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    if (parsed instanceof z.ZodObject) return parsed;
  } catch {
    // Refused below.
  }
  throw new ToolError(
    "INVALID_ARGUMENT",
    `the input_schema of caller tool '${name}' is not a JSON Schema of an object`,
    {
      issues: [{ path: "caller_tools", message: "input_schema must be a JSON Schema with type object" }],
    },
  );
}
