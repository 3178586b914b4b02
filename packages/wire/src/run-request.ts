import {
  type BinaryPart,
  type Caller,
  type CallOptions,
  createToText,
  type Dispatch,
  type Envelope,
  type JobEvent,
  newHandle,
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
import type { Questions } from "./questions.ts";
import type { Window } from "./window.ts";

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

/** The destination of one request's replies. */
export interface ReplyChannel {
  /** False when the reader is too slow right now, or gone. */
  reply(response: ResponseEnvelope): Promise<boolean>;
  raw(bytes: Uint8Array): Promise<boolean>;
  /** How far a stream may be ahead of its reader. */
  readonly window: Window;
  /** Whether chunks also wait for the window, not only binary parts. */
  readonly isPaced: boolean;
  /** Where answers of the person behind the caller arrive. */
  readonly questions: Questions;
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

/** Runs one request. Streams chunks to the channel as they come, and returns the last reply. */
export async function runRequest(
  runner: RequestRunner,
  request: RequestEnvelope,
  context: RequestContext,
  channel: ReplyChannel,
): Promise<ResponseEnvelope> {
  const timing = timingOf(runner.registry, request);
  const toShown = (response: FinalResponse) => (request.text ? withText(runner, response) : response);
  const stream = openStream(request, channel, toShown);
  const { questions } = channel;
  const asking: Listeners = request.asks
    ? { ask: (question, signal) => questions.ask(question, signal, stream.question) }
    : {};
  if (request.stream !== "full" || !runner.jobs || timing === undefined || timing === "sync") {
    const listeners = { ...asking, ...toListeners(request, stream.chunk) };
    const reply = await dispatchRequest(runner, request, { ...context, ...listeners });
    if (reply.binary) await stream.binary(reply.binary, context.signal);
    return stream.end(toFinal(reply, request.timing_hint ?? timing));
  }
  const from = runner.jobs.events.nextSeq;
  const reply = await dispatchRequest(runner, request, { ...context, ...asking, timingHint: "async_long" });
  const { job_id } = reply.envelope.meta;
  if (job_id === undefined) return stream.end(toFinal(reply, timing));
  const envelope = await followJob(
    runner.jobs,
    narrowCaller(runner.caller, request).id,
    job_id,
    from,
    stream.chunk,
    context.signal,
  );
  return stream.end(envelope ? toOutcome(envelope) : toFinal(reply, timing));
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
    ...more,
  });

const toFinal = ({ envelope, attachments }: Reply, timing: Timing | undefined): FinalResponse =>
  toResponse(envelope, attachments, timing);

function timingOf(registry: Registry, { request: { tool, action } }: RequestEnvelope): Timing | undefined {
  const found = registry.get(tool);
  return found && ownAction(found, String(action))?.timing;
}

const MAX_QUEUED_CHUNKS = 256;

/** Starts with its first chunk, or at once where the request asked for a stream. */
function openStream(
  { request: { tool }, stream }: RequestEnvelope,
  channel: ReplyChannel,
  toShown: (response: FinalResponse) => FinalResponse,
) {
  let stream_id = "";
  const { window, isPaced } = channel;
  const queue: ResponseEnvelope[] = [];
  const sending = new Set<Promise<void>>();
  let isStarted = false;
  let seq = 0;
  let dropped = 0;
  const start = (part?: BinaryPart) => {
    if (isStarted) return;
    isStarted = true;
    stream_id = newHandle("stream", Date.now());
    void channel.reply({
      kind: "stream_start",
      stream_id,
      tool,
      rule: part ? "wait" : "drop_oldest",
      ...(part && { bytes: part.size, mime: part.mime }),
    });
  };
  const send = (chunk: ResponseEnvelope) => {
    window.sent();
    const sent = channel.reply(chunk).then((taken) => {
      if (!taken) dropped += 1;
      sending.delete(sent);
    });
    sending.add(sent);
  };
  const flush = () => {
    while (queue.length > 0 && (!isPaced || window.isOpen)) {
      const next = queue.shift();
      if (next) send(next);
    }
  };
  const number = (chunk: object): ResponseEnvelope => ({
    kind: "stream_chunk",
    stream_id,
    seq: seq++,
    chunk,
  });
  window.onOpened(flush);
  if (stream) start();
  return {
    chunk(chunk: object): void {
      start();
      queue.push(number(chunk));
      if (queue.length > MAX_QUEUED_CHUNKS) {
        queue.shift();
        dropped += 1;
      }
      flush();
    },
    /** Waits for no window: the work waits for its answer. */
    question(chunk: object): void {
      start();
      send(number(chunk));
    },
    /** Waits for the reader: no byte is dropped. */
    async binary(part: BinaryPart, signal: AbortSignal): Promise<void> {
      start(part);
      for await (const bytes of part.read()) {
        await window.opened(signal);
        while (!(await channel.raw(bytes))) await pause(signal);
        window.sent();
      }
    },
    /** The last reply: the response itself when nothing was streamed. */
    async end(final: FinalResponse): Promise<ResponseEnvelope> {
      const response = toShown(final);
      if (!isStarted) return response;
      flush();
      await Promise.all(sending);
      return { kind: "stream_end", stream_id, dropped: dropped + queue.length, response };
    },
  };
}

const RETRY_MS = 5;

/** The reader's queue is full, and there is no event when it drains. */
const pause = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    setTimeout(resolve, RETRY_MS);
  });

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
  for await (const { value } of feed.events.follow(from, signal, matches)) {
    if (value.type === "chunk") onChunk(value.chunk);
    if (value.type === "end") break;
  }
  signal.throwIfAborted();
  return await feed.result(owner, job_id);
}
