import type { IncomingMessage } from "node:http";
import type { Answer, ApiClient, Delta, Model, ModelRequest } from "../api-client.ts";
import { ApiError } from "../api-error.ts";
import type { AssistantPart, Message } from "../messages.ts";
import { brokenStream, toHttpError, toStreamError } from "./failures.ts";
import type { ClientOptions } from "./providers.ts";
import { createBodyEncoder } from "./request-body.ts";
import { createSseFrameBuffer, type SseFrame } from "./sse.ts";
import { fieldOf, numberOf, stringOf } from "./wire.ts";

/** Without a byte for this long the stream counts as stalled. */
const STALL_MS = 60_000;
/** How long a response may take to end after its last event. */
const END_MS = 1_000;
const MAX_ERROR_BYTES = 64 * 1024;

/** The address of a provider and our credentials. */
export interface Endpoint extends Pick<ClientOptions, "provider" | "credentials" | "stall_ms"> {
  /** Without a trailing slash. */
  readonly base_url: string;
}

/** A provider API: how a request is encoded, and how its answer is parsed. */
export interface Api {
  /** Path and query below the base URL. */
  path(model: Model): string;
  readonly headers?: Readonly<Record<string, string>>;
  /** US dollars for one search, where the API has a web search of its own for the model; undefined otherwise. */
  searchPrice?(model: Model): number | undefined;
  /** A message as the API has it: one item of its list, or several. */
  toItems(message: Message, model: Model): readonly unknown[];
  /** The rest of the body around the list of items, with the stable parts first. */
  body(request: ModelRequest, model: Model, items: readonly unknown[]): object;
  createReader(provider: string): Reader;
}

/** Parses the answer to one request, event by event. */
export interface Reader {
  /** Takes the data of an event. Returns true after the last one of the answer. */
  read(event: unknown): Generator<Delta, boolean>;
  /** The whole answer; undefined while it is incomplete. `isOver` says that the provider has announced the end. */
  finish(isOver: boolean): ReadAnswer | undefined;
}

interface ReadAnswer extends Pick<Answer, "stop" | "usage"> {
  readonly content: readonly AssistantPart[];
  /** Empty without one. */
  readonly detail: string;
}

/** The data of the event with which OpenAI's APIs end a stream. */
const END_OF_STREAM = "[DONE]";

export function createHttpClient(api: Api, model: Model, endpoint: Endpoint): ApiClient {
  const encode = createBodyEncoder(api);
  return {
    model,
    async *send(request, signal) {
      const watch = new AbortController();
      const either = AbortSignal.any([signal, watch.signal]);
      const stall = setTimeout(() => watch.abort(stalled(endpoint)), endpoint.stall_ms ?? STALL_MS);
      const reader = api.createReader(endpoint.provider);
      let isOver = false;
      try {
        const response = await open(api, model, endpoint, encode(request, model), either);
        for await (const { data } of readFrames(response, () => stall.refresh())) {
          isOver = data === END_OF_STREAM || (yield* reader.read(parseData(endpoint.provider, data)));
          if (isOver) break;
        }
        if (isOver) letEnd(response);
        const answer = reader.finish(isOver);
        if (!answer) throw brokenStream("it ended before the answer was complete");
        yield toAnswer(answer);
      } catch (cause) {
        signal.throwIfAborted();
        const failure = watch.signal.aborted ? watch.signal.reason : cause;
        // A connection that is lost after the answer was complete loses nothing.
        const answer = isLost(failure) ? reader.finish(isOver) : undefined;
        if (!answer) throw failure;
        yield toAnswer(answer);
      } finally {
        clearTimeout(stall);
        if (!isOver) watch.abort();
      }
    },
  };
}

const toAnswer = ({ content, stop, usage, detail }: ReadAnswer): Answer => ({
  type: "done",
  message: { role: "assistant", content },
  stop,
  usage,
  ...(detail !== "" && { detail }),
});

async function open(
  api: Api,
  model: Model,
  endpoint: Endpoint,
  body: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  let proof: Readonly<Record<string, string>> = {};
  const send = async (refused: boolean) => {
    proof = await endpoint.credentials.headers(refused);
    const headers = {
      "content-type": "application/json",
      accept: "text/event-stream",
      ...api.headers,
      ...proof,
    };
    return post(new URL(`${endpoint.base_url}${api.path(model)}`), { headers, body, signal }).catch(
      (cause) => {
        throw unreachable(endpoint, cause);
      },
    );
  };
  let response = await send(false);
  if (response.statusCode === 401) {
    response.destroy();
    response = await send(true);
  }
  const { statusCode: status = 0 } = response;
  if (status >= 200 && status < 300) return response;
  // Only set-cookie would be a list.
  const headers = new Headers(response.headers as Record<string, string>);
  const text = withoutSecrets(await readHead(response), proof);
  throw toHttpError(endpoint.provider, { status, headers }, text);
}

interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
  readonly signal: AbortSignal;
}

/** Sends the pieces directly: fetch would copy the whole body for every request. Redirects are not followed. */
async function post(url: URL, { headers, body, signal }: Post): Promise<IncomingMessage> {
  const { request } = url.protocol === "http:" ? await import("node:http") : await import("node:https");
  signal.throwIfAborted();
  const length = body.reduce((sum, piece) => sum + piece.byteLength, 0);
  const sent = request(url, { method: "POST", headers: { ...headers, "content-length": length } });
  let response: IncomingMessage | undefined;
  // With Node's own option `signal`, a response that is just ending throws where nothing can catch it.
  const stop = () => void (response ?? sent).destroy(new Error("stopped"));
  signal.addEventListener("abort", stop, { once: true });
  sent.once("close", () => signal.removeEventListener("abort", stop));
  try {
    return await new Promise((resolve, reject) => {
      sent.once("response", (arrived) => {
        response = arrived;
        // Its reader throws those that concern it; others follow when it was left early.
        arrived.on("error", () => {});
        resolve(arrived);
      });
      // The response reports a connection that breaks later.
      sent.on("error", reject);
      for (const piece of body) sent.write(piece);
      sent.end();
    });
  } catch (cause) {
    // The provider may have closed an idle connection in the same moment.
    if (sent.reusedSocket && !signal.aborted) return post(url, { headers, body, signal });
    throw cause;
  }
}

/** Reads the response to its end, so that its connection serves the next request. */
function letEnd(response: IncomingMessage): void {
  const late = setTimeout(() => response.destroy(), END_MS).unref();
  response.once("close", () => clearTimeout(late));
  response.resume();
}

const MIN_SECRET_CHARS = 8;

/** Some servers repeat the key that they reject. */
function withoutSecrets(text: string, proof: Readonly<Record<string, string>>): string {
  const secrets = Object.values(proof)
    .flatMap((value) => value.split(" "))
    .filter(({ length }) => length >= MIN_SECRET_CHARS);
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, "[redacted]"), text);
}

async function readHead(response: IncomingMessage): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MAX_ERROR_BYTES) break;
    }
  } catch {
    // The status says enough.
  }
  return text;
}

async function* readFrames(response: IncomingMessage, onBytes: () => void): AsyncGenerator<SseFrame> {
  const frames = createSseFrameBuffer();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  try {
    for await (const chunk of response.iterator({ destroyOnReturn: false })) {
      onBytes();
      yield* frames.feed(decoder.decode(chunk, { stream: true }));
    }
  } catch (cause) {
    const reason = reasonOf(cause);
    throw brokenStream(reason === "ECONNRESET" ? "the provider closed the connection" : reason);
  }
  yield* frames.feed(decoder.decode());
  yield* frames.end();
}

/** The connection was lost without a message from the provider. */
const isLost = (cause: unknown) =>
  cause instanceof ApiError && (cause.failure === "stalled" || cause.failure === "broken");

const stalled = ({ provider, stall_ms = STALL_MS }: Endpoint) =>
  new ApiError(
    "stalled",
    `${provider} sent nothing for ${stall_ms / 1_000} s (stall_seconds in the settings)`,
  );

function unreachable({ provider, base_url }: Endpoint, cause: unknown): ApiError {
  const { origin, host } = new URL(base_url);
  const peer = peerOf(cause);
  // Behind a proxy it is the proxy that does not answer.
  const where = peer === undefined || peer === host ? "" : ` at ${peer}`;
  return new ApiError(
    "unreachable",
    `${provider} cannot be reached at ${origin}: ${reasonOf(cause)}${where}`,
    {
      cause,
    },
  );
}

/** The address that a connection was refused at. */
function peerOf(cause: unknown): string | undefined {
  const address = stringOf(cause, "address");
  return address === "" ? undefined : `${address}:${numberOf(cause, "port")}`;
}

const TUNNEL_FAILED = "ERR_PROXY_TUNNEL";

/** The code of a system error says more than its text, which is "aborted" for a connection that ended early. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const isCodeEnough = "code" in cause && cause.code !== "" && cause.code !== TUNNEL_FAILED;
  return isCodeEnough ? `${cause.code}` : cause.message;
}

/** The data of an event; an invalid one means that the stream is unreliable. Throws the error that it reports. */
function parseData(provider: string, data: string): unknown {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch (cause) {
    throw new ApiError("broken", "the stream was interrupted: an event is not valid JSON", { cause });
  }
  const error = fieldOf(event, "error") ?? (fieldOf(event, "type") === "error" ? event : undefined);
  if (error) throw toStreamError(provider, error);
  return event;
}
