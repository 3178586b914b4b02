import { createHash } from "node:crypto";
import type { z } from "zod";
import type { Envelope, ErrorBody, Meta, Paging } from "./envelope.ts";
import { ToolError } from "./errors.ts";
import { actionOf, toolOf } from "./lookup.ts";
import { allowedIn, type Mode } from "./modes.ts";
import { type Cursors, staleCursor } from "./paging.ts";
import type { Registry } from "./registry.ts";
import type { Access, AnyAction, Attachment, Caller, Context, Progress, Tool } from "./tool.ts";
import { toTraceId } from "./trace.ts";

export interface Call {
  readonly tool: string;
  readonly action: unknown;
  readonly input: unknown;
}

export interface CallOptions {
  readonly caller: Caller;
  readonly signal?: AbortSignal;
  readonly traceparent?: unknown;
  readonly onProgress?: (update: Progress) => void;
}

export interface Reply<D = unknown> {
  readonly envelope: Envelope<D>;
  readonly attachments: readonly Attachment[];
}

export type Dispatch = (call: Call, options: CallOptions) => Promise<Reply>;

/** A call whose action was found and whose input was checked. */
export interface CheckedCall {
  readonly tool: Tool;
  readonly name: string;
  readonly act: AnyAction;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A layer round every call. It may refuse by throwing a ToolError, and it sees the checked data on the way back. */
export type Step = (call: CheckedCall, ctx: Context, next: () => Promise<unknown>) => Promise<unknown>;

export interface DispatcherOptions {
  readonly registry: Registry;
  readonly cursors: Cursors;
  readonly mode?: Mode;
  /** Policy that runs between the mode and the action: permission, hooks, audit. */
  readonly policy?: readonly Step[];
  /** Told of everything that became INTERNAL. */
  readonly onBug: (bug: { traceId: string; call: Call; cause: unknown }) => void;
}

/** The one door to the tools: every edge, and every test, calls the function that this returns. */
export function createDispatcher({
  registry,
  cursors,
  mode,
  policy = [],
  onBug,
}: DispatcherOptions): Dispatch {
  // The order of a call's life, in one place. Finding the action and checking its input come first, below.
  const pipeline: readonly Step[] = [checkAccess, checkMode(mode), ...policy, checkOutput, runAction];

  return async (call, options) => {
    const traceId = toTraceId(options.traceparent);
    const notes: Notes = { paging: LAST_PAGE, backend: undefined, attachments: [] };
    const meta = (): Meta => ({
      tool: call.tool,
      action: typeof call.action === "string" ? call.action : "",
      trace_id: traceId,
      ...(notes.backend !== undefined && { backend: notes.backend }),
      paging: notes.paging,
    });
    try {
      const checked = checkInput(findAction(registry, call), call.input);
      const ctx = createContext(checked, cursors, traceId, options, notes);
      ctx.signal.throwIfAborted();
      const start = pipeline.reduceRight<() => Promise<unknown>>(
        (next, step) => () => step(checked, ctx, next),
        unreachable,
      );
      const data = await start();
      return { envelope: { ok: true, data, error: null, meta: meta() }, attachments: notes.attachments };
    } catch (cause) {
      const error = toErrorBody(cause, options.signal, traceId);
      if (error.code === "INTERNAL") onBug({ traceId, call, cause });
      return { envelope: { ok: false, data: null, error, meta: meta() }, attachments: [] };
    }
  };
}

const LAST_PAGE: Paging = { cursor: null, more: false };

/** What an action says about its answer while it runs. */
interface Notes {
  paging: Paging;
  backend: string | undefined;
  attachments: Attachment[];
}

function findAction(registry: Registry, call: Call): Omit<CheckedCall, "input"> {
  const tool = registry.get(call.tool) ?? toolOf(registry.list(), call.tool);
  // actionOf has refused everything that is not the name of an action.
  return { tool, act: actionOf(tool, call.action), name: call.action as string };
}

function checkInput(found: Omit<CheckedCall, "input">, input: unknown): CheckedCall {
  const parsed = found.act.input.safeParse(input ?? {});
  if (parsed.success) return { ...found, input: parsed.data };
  const issues = toIssues(parsed.error);
  const first = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; ");
  const message = `${found.tool.name}.${found.name}: ${first}; see action 'schema' for what fits`;
  throw new ToolError("INVALID_ARGUMENT", message, { issues });
}

const toIssues = (error: z.ZodError) =>
  error.issues.map(({ path, message }) => ({ path: path.map(String).join("."), message }));

const RANK: Readonly<Record<Access, number>> = { read: 0, write: 1, admin: 2 };

const checkAccess: Step = (call, ctx, next) => {
  if (RANK[call.act.access] <= RANK[ctx.caller.access]) return next();
  const message = `${call.tool.name}.${call.name} needs ${call.act.access} access; this caller has ${ctx.caller.access}`;
  throw new ToolError("PERMISSION_DENIED", message, { by: "access", rule: call.act.access });
};

const checkMode =
  (mode: Mode | undefined): Step =>
  (call, _ctx, next) => {
    if (allowedIn(mode, call.act)) return next();
    const message = `mode ${mode} does not allow ${call.tool.name}.${call.name} (intent ${call.act.intent})`;
    throw new ToolError("PERMISSION_DENIED", message, { by: "mode", rule: mode });
  };

const checkOutput: Step = async (call, _ctx, next) => call.act.output.parse(await next());

const runAction: Step = async (call, ctx) => call.act.run(call.input, ctx);

const unreachable = () => Promise.reject(new Error("runAction ends the pipeline"));

function createContext(
  { tool, name, input }: CheckedCall,
  cursors: Cursors,
  traceId: string,
  { caller, signal = NEVER, onProgress }: CallOptions,
  notes: Notes,
): Context {
  const scope = () => {
    const { cursor: _cursor, limit: _limit, ...query } = input;
    const digest = createHash("sha256").update(JSON.stringify(query)).digest("base64url");
    return `${caller.id} ${tool.name}.${name} ${digest}`;
  };
  return {
    traceId,
    signal,
    caller,
    progress: (update) => onProgress?.(update),
    backend: (by) => {
      notes.backend = by;
    },
    attach: (attachment) => {
      notes.attachments.push(attachment);
    },
    resume(position) {
      if (typeof input["cursor"] !== "string") return undefined;
      const parsed = position.safeParse(cursors.parse(scope(), input["cursor"]));
      if (!parsed.success) throw staleCursor();
      return parsed.data;
    },
    more: (position) => {
      notes.paging = { cursor: cursors.encode(scope(), position), more: true };
    },
  };
}

const NEVER = new AbortController().signal;

function toErrorBody(cause: unknown, signal: AbortSignal | undefined, traceId: string): ErrorBody {
  if (cause instanceof ToolError) {
    // A ToolError's code and details were tied together by its constructor; the union cannot show that.
    return { code: cause.code, message: cause.message, details: cause.details } as ErrorBody;
  }
  if (signal?.aborted) return { code: "CANCELLED", message: "the call was cancelled", details: {} };
  return {
    code: "INTERNAL",
    message: "this is a bug in Octant; the log has the details under this trace_id",
    details: { trace_id: traceId },
  };
}
