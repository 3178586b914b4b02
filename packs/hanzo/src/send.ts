import { type PackContext, ToolError } from "@octant/core";
import type { PlainRequest } from "./request.ts";

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const MAX_MESSAGE_CHARS = 500;
const MAX_SECONDS = 120;
const MIN_SECRET_CHARS = 8;

export interface Answer {
  readonly status: number;
  /** Parsed when it is JSON; null without a body. */
  readonly data: unknown;
}

/** Sends a request with the person's sign-in. What the server says about that sign-in goes no further. */
export async function send(
  request: PlainRequest,
  credentials: PackContext["credentials"],
  caller: AbortSignal,
): Promise<Answer> {
  const signal = AbortSignal.any([caller, AbortSignal.timeout(MAX_SECONDS * 1_000)]);
  for (const refused of [false, true]) {
    const signIn = await credentials("hanzo", { refused });
    const response = await fetchOnce(request, signIn, signal, caller);
    const hide = hiding(Object.values(signIn));
    if (response.status === 401 && !refused) {
      await response.body?.cancel();
      continue;
    }
    const text = hide(await readText(request, response, caller));
    if (response.ok) return { status: response.status, data: parse(request, response, text) };
    throw toError(request, response.status, text);
  }
  throw new ToolError("UNAUTHENTICATED", "the server refuses the sign-in", {});
}

async function fetchOnce(
  { method, url, headers, body }: PlainRequest,
  signIn: Readonly<Record<string, string>>,
  signal: AbortSignal,
  caller: AbortSignal,
): Promise<Response> {
  try {
    return await fetch(url, {
      method,
      headers: { ...headers, ...signIn },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // Another server must not get the sign-in.
      redirect: "error",
      signal,
    });
  } catch (cause) {
    caller.throwIfAborted();
    // Not the cause: its text may hold headers.
    const reason = signal.aborted
      ? `no answer within ${MAX_SECONDS} s`
      : `cannot be reached (${codeOf(cause)})`;
    throw upstream(url, reason);
  }
}

function codeOf(cause: unknown): string {
  const inner = Object(Object(cause).cause);
  return typeof inner.code === "string"
    ? inner.code
    : inner.message?.includes("redirect")
      ? "redirected"
      : "failed";
}

async function readText({ url }: PlainRequest, response: Response, caller: AbortSignal): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > MAX_ANSWER_BYTES) break;
      chunks.push(chunk);
    }
  } catch {
    caller.throwIfAborted();
    throw upstream(url, "the connection broke within the answer", response.status);
  }
  if (size > MAX_ANSWER_BYTES)
    throw new ToolError("TOO_LARGE", `the answer exceeds ${MAX_ANSWER_BYTES} bytes; ask for less`, {
      limit: MAX_ANSWER_BYTES,
    });
  return Buffer.concat(chunks).toString("utf8");
}

function parse({ url }: PlainRequest, response: Response, text: string): unknown {
  if (text === "") return null;
  if (!/\bjson\b/.test(response.headers.get("content-type") ?? "")) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw upstream(url, "the answer is not JSON", response.status);
  }
}

/** Removes the secrets of a sign-in from what a server returns. */
function hiding(headers: readonly string[]): (text: string) => string {
  const secrets = headers
    .flatMap((value) => [value, value.replace(/^\S+ /, "")])
    .filter((one) => one.length >= MIN_SECRET_CHARS);
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
}

function toError({ url, method }: PlainRequest, status: number, text: string): ToolError {
  const said = text.slice(0, MAX_MESSAGE_CHARS);
  if (status === 401)
    return new ToolError("UNAUTHENTICATED", "the server refuses the sign-in; run: octant login hanzo", {});
  if (status === 404) {
    const { pathname } = new URL(url);
    return new ToolError("NOT_FOUND", `the server has no ${method} ${pathname}: ${said}`, { id: pathname });
  }
  return upstream(url, `status ${status}: ${said}`, status);
}

/** The host is enough to find the server. */
export const upstream = (url: string, reason: string, status?: number): ToolError =>
  new ToolError("UPSTREAM_ERROR", `${new URL(url).host}: ${reason}`, status === undefined ? {} : { status });
