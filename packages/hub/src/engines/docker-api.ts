import { type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { attempt, ToolError } from "@octant/core";

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ApiCall {
  readonly query?: Query;
  readonly body?: object | undefined;
  /** A tar archive, instead of `body`. */
  readonly archive?: Readable | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Statuses below 400 succeed; these do too. */
  readonly also?: readonly number[];
}

/** All engines since 2020 speak it: Docker 20.10 and Podman 3. */
const API_VERSION = "v1.41";
/** The version in paths that only Podman has. */
const PODMAN_VERSION = "v4.0.0";
const MAX_MESSAGE_CHARS = 1_000;
const NOT_FOUND = 404;
const CONFLICT = 409;

/** `connect` opens a connection to the engine, and may start the engine for that. */
export function createDockerApi(connect: () => Promise<Socket>) {
  const send = async (
    method: string,
    path: string,
    { query = {}, body, archive, signal, also = [] }: ApiCall,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly answer: IncomingMessage; readonly hijacked?: Duplex }> => {
    signal?.throwIfAborted();
    const socket = await connect();
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const { promise, resolve, reject } = Promise.withResolvers<{
      answer: IncomingMessage;
      hijacked?: Duplex;
    }>();
    const sent = request({
      method,
      path: `/${path.startsWith("/libpod/") ? PODMAN_VERSION : API_VERSION}${path}${toQuery(query)}`,
      createConnection: () => socket,
      ...(signal && { signal }),
      headers: {
        host: "engine",
        ...(payload !== undefined && {
          "content-type": "application/json",
          "content-length": String(Buffer.byteLength(payload)),
        }),
        ...(archive && { "content-type": "application/x-tar" }),
        ...headers,
      },
    });
    sent.on("response", (answer) => resolve({ answer }));
    sent.on("upgrade", (answer, hijacked, head) => {
      hijacked.unshift(head);
      resolve({ answer, hijacked });
    });
    sent.on("error", reject);
    if (archive) archive.on("error", (cause) => sent.destroy(cause)).pipe(sent);
    else sent.end(payload);
    const { answer, hijacked } = await promise.catch((cause: unknown) => {
      if (signal?.aborted) throw cause;
      throw new ToolError("UPSTREAM_ERROR", `the container engine does not answer: ${cause}`, {}, { cause });
    });
    const status = answer.statusCode ?? 0;
    if (hijacked || status < 400 || also.includes(status)) return { answer, ...(hijacked && { hijacked }) };
    throw toError(status, await text(answer));
  };
  return {
    /** The JSON of the answer; undefined when it has none. */
    async json<T>(method: string, path: string, call: ApiCall = {}): Promise<T | undefined> {
      const { answer } = await send(method, path, call);
      const body = await text(answer);
      // Engines document what they answer.
      return body.startsWith("{") || body.startsWith("[") ? (JSON.parse(body) as T) : undefined;
    },
    /** The body as it comes. */
    stream: async (method: string, path: string, call: ApiCall = {}): Promise<IncomingMessage> =>
      (await send(method, path, call)).answer,
    /** The connection itself, after the engine has switched it to raw bytes. */
    async hijack(path: string, body: object): Promise<Duplex> {
      const upgrade = { connection: "Upgrade", upgrade: "tcp" };
      const { hijacked } = await send("POST", path, { body }, upgrade);
      if (hijacked) return hijacked;
      throw new ToolError("UPSTREAM_ERROR", "the container engine did not open a stream", {});
    },
  };
}

function toQuery(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : "";
}

function toError(status: number, body: string): ToolError {
  const parsed = attempt(() => JSON.parse(body) as { readonly message?: string });
  const message = (parsed?.message ?? body).trim().slice(0, MAX_MESSAGE_CHARS);
  const said = `the container engine answered ${status}: ${message}`;
  if (status === NOT_FOUND) return new ToolError("NOT_FOUND", said, {});
  if (status === CONFLICT)
    return new ToolError("CONFLICT", said, { expected: "another state", actual: message });
  return new ToolError("UPSTREAM_ERROR", said, { status });
}
