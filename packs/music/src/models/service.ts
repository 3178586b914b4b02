import { createLineSplitter, type Progress, ToolError } from "@octant/core";
import { z } from "zod";

const MAX_REPLY_BYTES = 384 * 1024 * 1024;
const MAX_MESSAGE_CHARS = 500;

const Line = z.union([
  z.strictObject({ progress: z.number(), total: z.number().optional(), message: z.string().optional() }),
  z.strictObject({ result: z.unknown() }),
  z.strictObject({ error: z.object({ message: z.string() }) }),
]);

/**
 * Sends a request to a model service and returns its result. The answer is JSON, or a stream of JSON lines: progress as
 * the work continues, then `{"result": …}` or `{"error": {"message": …}}`.
 */
export async function askService(
  url: string,
  request: object,
  signal: AbortSignal,
  onProgress: (update: Progress) => void,
): Promise<unknown> {
  const response = await send(url, request, signal);
  const type = response.headers.get("content-type")?.split(";")[0]?.trim();
  if (response.ok && type === "application/x-ndjson") return readLines(url, response, signal, onProgress);
  const body = Buffer.concat(await Array.fromAsync(limited(url, response, signal))).toString("utf8");
  if (response.ok && type === "application/json") return parse(url, body);
  throw upstream(
    url,
    `status ${response.status}${response.ok ? ` with ${type ?? "no content type"}` : ""}: ${body}`,
    response.status,
  );
}

async function send(url: string, request: object, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, application/x-ndjson" },
      body: JSON.stringify(request),
      redirect: "error",
      signal,
    });
  } catch (cause) {
    signal.throwIfAborted();
    throw upstream(url, "cannot be reached; is the service running?", undefined, cause);
  }
}

async function readLines(
  url: string,
  response: Response,
  signal: AbortSignal,
  onProgress: (update: Progress) => void,
): Promise<unknown> {
  let result: { readonly value: unknown } | undefined;
  const onLine = (text: string) => {
    const line = Line.safeParse(parse(url, text));
    if (!line.success || result) throw upstream(url, `an unexpected line: ${text}`);
    if ("progress" in line.data) onProgress(line.data);
    else if ("error" in line.data) throw upstream(url, line.data.error.message);
    else result = { value: line.data.result };
  };
  const split = createLineSplitter({ onLine }, MAX_REPLY_BYTES);
  for await (const bytes of limited(url, response, signal)) split(Buffer.from(bytes));
  split.flush();
  if (!result) throw upstream(url, "the stream ended without a result");
  return result.value;
}

async function* limited(url: string, { body }: Response, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  for (let size = 0; reader; ) {
    const { value } = await reader.read().catch((cause) => {
      signal.throwIfAborted();
      throw upstream(url, "the connection broke within the answer", undefined, cause);
    });
    if (!value) return;
    size += value.length;
    if (size > MAX_REPLY_BYTES) throw upstream(url, `the answer exceeds ${MAX_REPLY_BYTES} bytes`);
    yield value;
  }
}

function parse(url: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw upstream(url, `the answer is not JSON: ${text}`, undefined, cause);
  }
}

/** The host is enough to find the service; the rest of its address may hold a secret. */
export const upstream = (url: string, message: string, status?: number, cause?: unknown) =>
  new ToolError(
    "UPSTREAM_ERROR",
    `${new URL(url).host}: ${message.slice(0, MAX_MESSAGE_CHARS)}`,
    status === undefined ? {} : { status },
    { cause },
  );
