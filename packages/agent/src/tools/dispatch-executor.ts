import {
  type Access,
  type AnyAction,
  allowedIn,
  type Call,
  type Caller,
  createListing,
  createToText,
  type Listing,
  type Mode,
  ownAction,
  type Registry,
  type Reply,
  resolveAliases,
  toModeRefusal,
} from "@octant/core";
import type { ToolDefinition } from "../api-client.ts";
import type { UserPart } from "../messages.ts";
import { toFailure } from "../run-calls.ts";
import type { ToolCall, ToolExecutor, ToolFacts, ToolResult } from "../tool-executor.ts";
import type { HostJobs, ToolHost } from "../tool-host.ts";
import { createDiagnosticsAfterEdits } from "./after-edits.ts";
import { factsOf } from "./facts.ts";
import { outlineOf } from "./outline.ts";
import { createSeenHashes } from "./seen-hashes.ts";

export interface DispatchExecutorOptions {
  /** Where the tools run. Without jobs, calls do not wait for long work. */
  readonly host: Pick<ToolHost, "dispatch" | "registry" | "roots"> &
    Partial<Pick<ToolHost, "jobs" | "diffOf">>;
  /** The caller, such as the owner of a remote session; by default each session is its own caller. */
  readonly caller?: Caller;
  /** The maximum access of calls; a sub-agent gets less than its parent. */
  readonly access?: Access;
  /** Read for every call: the list of tools is the same in every mode. */
  readonly mode?: () => Mode | undefined;
  /** Whether an action may be called at all; others get PERMISSION_DENIED. */
  readonly allows?: (tool: string, action: string) => boolean;
}

interface Found {
  readonly call: Call;
  readonly act: AnyAction | undefined;
  /** The call as it was asked, when `call` edits the file that it would create. */
  readonly instead?: Call;
}

/** Runs the tools of a registry through its dispatcher and policy. */
export function createDispatchExecutor(options: DispatchExecutorOptions): ToolExecutor {
  const { dispatch, registry, roots, jobs } = options.host;
  const { access = "admin", mode = () => undefined, allows = () => true } = options;
  // The person undoes; the model has no use for the ref.
  const toText = createToText(registry, roots, ["undo"]);
  const seen = createSeenHashes();
  const offered = createOffered(registry);
  const find = ({ name, input }: ToolCall): Found => {
    const named = offered().listing.toCall(name, input) ?? { tool: name, action: "", input };
    const asked = resolveAliases(registry, named);
    const tool = registry.get(asked.tool);
    const act = tool && ownAction(tool, String(asked.action));
    const edit = seen.toEdit(asked, act, roots);
    return edit && tool
      ? { call: edit, act: ownAction(tool, String(edit.action)), instead: asked }
      : { call: asked, act };
  };
  const refusal = ({ tool, action }: Call, act: AnyAction | undefined): string | undefined => {
    if (!act) return undefined;
    const name = `${tool}.${action}`;
    const now = mode();
    if (now !== undefined && !allowedIn(now, act)) return toModeRefusal(now, name, act);
    return allows(tool, String(action))
      ? undefined
      : `this agent was not given ${name}; do without it, or report what is missing`;
  };

  return {
    definitions: () => offered().definitions,
    resolve(call) {
      const found = find(call);
      const { tool, action, input } = found.instead ?? found.call;
      // An input is always an object here: the loop has parsed it.
      return offered().listing.offer(tool)
        ? { ...call, name: tool, input: { action, ...(input as object) } }
        : call;
    },
    outline(call) {
      const { call: found, act } = find(call);
      return outlineOf(found, act);
    },
    async execute(asked, { sessionId, ...given }) {
      const { call, act, instead } = find(asked);
      const refused = refusal(call, act);
      if (refused) return toFailure("PERMISSION_DENIED", refused);
      const caller = options.caller ?? { id: sessionId, access };
      const based = seen.withBase(call, act, roots);
      const first = await dispatch(based, { caller, ...given });
      const isGone = first.envelope.error?.code === "NOT_FOUND";
      const again = instead && isGone ? instead : seen.withBases(based, first.envelope);
      const answer = again ? await dispatch(again, { caller, ...given }) : first;
      const reply = await outcomeOf(answer, act, caller.id, jobs, given.signal);
      const facts = await withDiff(factsOf(reply.envelope, act), act, options.host);
      seen.note(facts);
      return toResult(reply, reply.text ?? toText(reply.envelope), facts);
    },
    afterEdits: createDiagnosticsAfterEdits({ dispatch, registry, roots }),
  };
}

const MAX_DIFF_CHARS = 200_000;

/** Adds what an edit really changed; the person may not have been asked about it. */
async function withDiff(
  facts: ToolFacts | undefined,
  act: AnyAction | undefined,
  { diffOf }: Partial<Pick<ToolHost, "diffOf">>,
): Promise<ToolFacts | undefined> {
  if (!diffOf || facts?.undo_ref === undefined || facts.diff !== undefined || act?.intent !== "apply")
    return facts;
  // The diff is only shown: the edit has succeeded even if the host cannot return one.
  const diff = await diffOf(facts.undo_ref).catch(() => "");
  return diff === "" || diff.length > MAX_DIFF_CHARS ? facts : { ...facts, diff };
}

const LONG_WAIT_MS = 10 * 60_000;

/**
 * Waits for the result of long work, unless the action answered and continues in the background. Work that takes
 * longer is polled with job.poll.
 */
async function outcomeOf(
  answer: Reply,
  act: AnyAction | undefined,
  owner: string,
  jobs: HostJobs | undefined,
  signal: AbortSignal,
): Promise<Reply> {
  const { job_id } = answer.envelope.meta;
  if (!jobs || job_id === undefined) return answer;
  if (act?.timing !== "async_long" && Object(answer.envelope.data).job_id !== job_id) return answer;
  try {
    await jobs.ended(owner, job_id, LONG_WAIT_MS, signal);
    signal.throwIfAborted();
  } catch (cause) {
    if (signal.aborted) await jobs.cancel(owner, job_id);
    throw cause;
  }
  const result = await jobs.result(owner, job_id);
  if (!result) return answer;
  const { text, ...envelope } = result;
  return { envelope, attachments: answer.attachments, ...(text !== undefined && { text }) };
}

interface Offered {
  readonly listing: Listing;
  readonly definitions: readonly ToolDefinition[];
}

/** Listed tools keep their position: a changed prefix loses the provider's cache. */
function createOffered(registry: Registry): () => Offered {
  let known: { readonly names: string; readonly offered: Offered } | undefined;
  return () => {
    const tools = registry.list();
    const names = tools.map(({ name }) => name).join(" ");
    if (known?.names === names) return known.offered;
    const listing = createListing({ registry, answers: "text" });
    const before = known?.offered.definitions ?? [];
    const now = listing.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    }));
    const added = now.filter(({ name }) => !before.some((one) => one.name === name));
    known = { names, offered: { listing, definitions: [...before, ...added] } };
    return known.offered;
  };
}

function toResult(reply: Reply, text: string, facts: ToolResult["facts"]): ToolResult {
  const { envelope, attachments } = reply;
  const images = attachments.flatMap(({ kind, mime, bytes }): UserPart[] =>
    kind === "image" ? [{ type: "image", mime, data: Buffer.from(bytes).toString("base64") }] : [],
  );
  return {
    content: [{ type: "text", text }, ...images],
    is_error: !envelope.ok,
    ...(!envelope.ok && { code: envelope.error.code }),
    ...(facts && { facts }),
  };
}
