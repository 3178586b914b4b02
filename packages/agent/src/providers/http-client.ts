import type { ApiClient, Model, ModelRequest, StreamEvent } from "../api-client.ts";
import { ApiError } from "../api-error.ts";
import { brokenStream, toHttpError } from "./failures.ts";
import { createSseFrameBuffer, type SseFrame } from "./sse.ts";

/** Without a byte for this long the stream counts as stalled. */
export const STALL_MS = 60_000;
const MAX_ERROR_BYTES = 64 * 1024;

/** The address of a provider and our credentials. */
export interface Endpoint {
  /** The provider's name in messages. */
  readonly provider: string;
  /** Without a trailing slash. */
  readonly base_url: string;
  /** The authorization headers; called again once with `refused` when they were rejected. */
  authorize(refused: boolean): Promise<Readonly<Record<string, string>>>;
  readonly stall_ms?: number;
}

/** A provider API: how a request is encoded, and how its answer is parsed. */
export interface Api {
  /** Path and query below the base URL. */
  path(model: Model): string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body as JSON, with the stable parts first. */
  encode(request: ModelRequest, model: Model): string;
  createReader(provider: string): Reader;
}

/** Parses the answer to one request, event by event. */
export interface Reader {
  read(frame: SseFrame): Iterable<StreamEvent>;
  /** After the last byte: emits `done`, or throws when the answer is incomplete. */
  end(): Iterable<StreamEvent>;
  /** `complete`: a broken connection would lose nothing. `over`: nothing more will come. */
  state(): "open" | "complete" | "over";
}

export const createHttpClient = (api: Api, model: Model, endpoint: Endpoint): ApiClient => ({
  model,
  async *send(request, signal) {
    const watch = new AbortController();
    const either = AbortSignal.any([signal, watch.signal]);
    const stall = setTimeout(() => watch.abort(stalled(endpoint)), endpoint.stall_ms ?? STALL_MS);
    const reader = api.createReader(endpoint.provider);
    try {
      const body = api.encode(request, model);
      const response = await open(api, model, endpoint, body, either);
      for await (const frame of readFrames(response, () => stall.refresh())) {
        yield* reader.read(frame);
        if (reader.state() === "over") break;
      }
      yield* reader.end();
    } catch (cause) {
      signal.throwIfAborted();
      const failure = watch.signal.aborted ? watch.signal.reason : toApiError(endpoint, cause);
      if (reader.state() !== "complete" || !isLost(failure)) throw failure;
      yield* reader.end();
    } finally {
      clearTimeout(stall);
      watch.abort();
    }
  },
});

async function open(api: Api, model: Model, endpoint: Endpoint, body: string, signal: AbortSignal) {
  let proof: Readonly<Record<string, string>> = {};
  const post = async (refused: boolean) => {
    proof = await endpoint.authorize(refused);
    return fetch(`${endpoint.base_url}${api.path(model)}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream", ...api.headers, ...proof },
      body,
      signal,
      // A redirect would send the key to another host.
      redirect: "error",
    });
  };
  let response = await post(false);
  if (response.status === 401) {
    await response.body?.cancel();
    response = await post(true);
  }
  if (response.ok) return response;
  throw toHttpError(endpoint.provider, response, withoutSecrets(await readHead(response), proof));
}

const MIN_SECRET_CHARS = 8;

/** Some servers repeat the key that they reject. */
function withoutSecrets(text: string, proof: Readonly<Record<string, string>>): string {
  const secrets = Object.values(proof)
    .flatMap((value) => value.split(" "))
    .filter(({ length }) => length >= MIN_SECRET_CHARS);
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, "[redacted]"), text);
}

async function readHead(response: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_ERROR_BYTES) break;
  }
  return text;
}

async function* readFrames(response: Response, onBytes: () => void): AsyncGenerator<SseFrame> {
  const frames = createSseFrameBuffer();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for await (const chunk of response.body ?? []) {
    onBytes();
    yield* frames.feed(decoder.decode(chunk, { stream: true }));
  }
  yield* frames.feed(decoder.decode());
  yield* frames.end();
}

/** The connection was lost without a message from the provider. */
const isLost = (cause: unknown) =>
  cause instanceof ApiError && (cause.failure === "stalled" || cause.failure === "broken");

const stalled = ({ provider, stall_ms = STALL_MS }: Endpoint) =>
  new ApiError("stalled", `${provider} sent nothing for ${stall_ms / 1_000} s`);

function toApiError({ provider, base_url }: Endpoint, cause: unknown): unknown {
  if (cause instanceof ApiError) return cause;
  if (!(cause instanceof TypeError) && !(cause instanceof RangeError)) return cause;
  const reason = reasonOf(cause);
  // undici reports a connection that ended in mid-stream as `terminated`.
  if (cause.message === "terminated" || cause instanceof RangeError) return brokenStream(reason);
  const { origin } = new URL(base_url);
  return new ApiError("unreachable", `${provider} cannot be reached at ${origin}: ${reason}`, { cause });
}

function reasonOf(cause: Error): string {
  const inner = cause.cause;
  if (inner instanceof Error) return "code" in inner ? `${inner.code}` : inner.message;
  return cause.message;
}

/** The data of a frame; an invalid one means that the stream is unreliable. */
export function parseData({ data }: SseFrame): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new ApiError("broken", "the stream was interrupted: an event is not valid JSON", { cause });
  }
}
