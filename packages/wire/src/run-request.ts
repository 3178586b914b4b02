import {
  type BinaryPart,
  type Caller,
  type CallOptions,
  createToText,
  type Dispatch,
  type Envelope,
  type JobEvent,
  ownAction,
  type Registry,
  type Reply,
  type Timing,
  type Topic,
} from "@octant/core";
import {
  type FinalResponse,
  narrowCaller,
  type RequestEnvelope,
  type ResponseEnvelope,
  toCall,
  toEnvelope,
  toOutcome,
  toResponse,
} from "./envelopes.ts";
import { openStream, type RepeatBinary, type ReplyChannel } from "./reply-stream.ts";

/** The environment of a request, whichever wire it came by. */
export interface RequestRunner {
  readonly registry: Registry;
  readonly dispatch: Dispatch;
  readonly caller: Caller;
  /** The URIs of the workspace; text answers show paths relative to the first. */
  readonly roots?: readonly string[];
  /** Without it a call that becomes a job cannot be followed. */
  readonly jobs?: JobFeed;
}

export interface JobFeed {
  readonly events: Topic<JobEvent>;
  result(owner: string, job_id: string): Promise<Envelope | undefined> | Envelope | undefined;
}

export interface RequestContext {
  readonly traceparent: string;
  readonly signal: AbortSignal;
  readonly upload?: BinaryPart;
}

export const withText = (runner: RequestRunner, response: FinalResponse): FinalResponse => ({
  ...response,
  text: toText(runner, toEnvelope(response)),
});

/** Only the process that has the tools can render their data. */
export const toText = ({ registry, roots = [] }: RequestRunner, envelope: Envelope): string =>
  createToText(registry, roots)(envelope);

interface RequestOutcome {
  /** The last reply. */
  readonly response: ResponseEnvelope;
  /** For an answer with bytes. */
  readonly repeat?: RepeatBinary;
}

/** Runs one request. Streams chunks to the channel as they come, and returns the last reply. */
export async function runRequest(
  runner: RequestRunner,
  request: RequestEnvelope,
  context: RequestContext,
  channel: ReplyChannel,
): Promise<RequestOutcome> {
  const timing = timingOf(runner.registry, request);
  const stream = openStream(request, channel, context.signal);
  const end = async (final: FinalResponse): Promise<RequestOutcome> => ({
    response: await stream.end(request.text ? withText(runner, final) : final),
  });
  const { questions } = channel;
  const asking: Listeners = request.asks
    ? { ask: (question, signal) => questions.ask(question, signal, stream.question) }
    : {};
  if (request.stream !== "full" || !runner.jobs || timing === undefined || timing === "sync") {
    const listeners = { ...asking, ...toListeners(request, stream.chunk) };
    const reply = await dispatchRequest(runner, request, { ...context, ...listeners });
    const repeat = reply.binary && (await stream.binary(reply.binary));
    return { ...(await end(toFinal(reply, request.timing_hint ?? timing))), ...(repeat && { repeat }) };
  }
  const from = runner.jobs.events.nextSeq;
  const reply = await dispatchRequest(runner, request, { ...context, ...asking, timingHint: "async_long" });
  const { job_id } = reply.envelope.meta;
  if (job_id === undefined) return end(toFinal(reply, timing));
  const envelope = await followJob(
    runner.jobs,
    narrowCaller(runner.caller, request).id,
    job_id,
    from,
    stream.chunk,
    context.signal,
  );
  return end(envelope ? toOutcome(envelope) : toFinal(reply, timing));
}

type Listeners = Pick<CallOptions, "onProgress" | "onStream" | "ask">;

/** The events that the caller wants to see before the answer. */
export const toListeners = (
  { stream }: Pick<RequestEnvelope, "stream">,
  onChunk: (chunk: object) => void,
): Listeners => ({
  ...(stream && { onProgress: (progress) => onChunk({ kind: "progress", ...progress }) }),
  // Progress in the stream was already reported as progress.
  ...(stream &&
    stream !== "progress" && { onStream: (chunk) => chunk.kind !== "progress" && onChunk(chunk) }),
});

/** Calls the dispatcher for a request; `more` wins over the request's own wishes. */
export const dispatchRequest = (
  { dispatch, caller }: RequestRunner,
  request: RequestEnvelope,
  more: Omit<CallOptions, "caller">,
): Promise<Reply> =>
  dispatch(toCall(request), {
    caller: narrowCaller(caller, request),
    ...(request.timing_hint && { timingHint: request.timing_hint }),
    ...(request.key && { key: request.key }),
    ...(typeof request.ttl_ms === "number" && { ttlMs: request.ttl_ms }),
    ...more,
  });

const toFinal = ({ envelope, attachments }: Reply, timing: Timing | undefined): FinalResponse =>
  toResponse(envelope, attachments, timing);

function timingOf(registry: Registry, { request: { tool, action } }: RequestEnvelope): Timing | undefined {
  const found = registry.get(tool);
  return found && ownAction(found, String(action))?.timing;
}

/** Forwards the job's events until it has ended; then returns its outcome. */
export async function followJob(
  feed: JobFeed,
  owner: string,
  job_id: string,
  from: number,
  onChunk: (chunk: object) => void,
  signal: AbortSignal,
): Promise<Envelope | undefined> {
  const matches = (event: JobEvent) => event.job_id === job_id;
  const onDropped = (chunks: number) => onChunk({ kind: "missing", chunks });
  for await (const { value } of feed.events.follow(from, signal, matches, onDropped)) {
    if (value.type === "chunk") onChunk(value.chunk);
    if (value.type === "end") break;
  }
  signal.throwIfAborted();
  return await feed.result(owner, job_id);
}
