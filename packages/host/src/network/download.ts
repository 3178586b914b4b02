import { ToolError, type Uri } from "@octant/core";
import { toToolError } from "../system-error.ts";
import { sweepCopies } from "./copy-notes.ts";
import { claimPart, type Part } from "./download-parts.ts";
import type { HttpRequest, HttpResponse, Network } from "./network.ts";
import { checkFree, type Place, placeFile } from "./place-file.ts";

export interface DownloadRequest
  extends Pick<HttpRequest, "url" | "headers" | "timeoutMs" | "isRemote" | "signal"> {
  readonly output: Uri;
  readonly maxBytes: number;
  /** Partial downloads are not shared between callers. */
  readonly owner: string;
  onProgress(bytes: number, total: number | undefined): void;
}

export interface DownloadPlace extends Place {
  readonly network: Network;
}

/**
 * Downloads into the state folder, then creates the new file. The next call for the same URL resumes an interrupted
 * download as long as the entity tag is unchanged.
 */
export async function downloadFile(place: DownloadPlace, request: DownloadRequest) {
  checkFree(place, request.output);
  sweepCopies(place.confinement, place.folder);
  const identity = [request.owner, request.url, request.headers];
  const part = await claimPart(place.folder, identity).catch(toThrow);
  const fetched = await fetchWhole(part, place.network, request);
  try {
    const { uri, undo } = await placeFile(place, part, request.output, request.signal);
    return { uri, size: part.size, undo, ...fetched };
  } finally {
    await part.drop();
  }
}

async function fetchWhole(part: Part, network: Network, request: DownloadRequest) {
  try {
    const fetched = (await fetchInto(part, network, request)) ?? (await fetchAnew(part, network, request));
    return { ...fetched, hash: await part.finish().catch(toThrow) };
  } catch (cause) {
    const isOfUse = !(cause instanceof ToolError && cause.code === "TOO_LARGE");
    await (isOfUse ? part.release() : part.drop());
    throw cause;
  }
}

/** Undefined when the partial file is unusable and the download must restart. */
function fetchInto(part: Part, network: Network, request: DownloadRequest) {
  const { tag, size: resumed } = part;
  const isResumed = tag !== undefined && resumed > 0;
  const headers = {
    ...request.headers,
    // Sizes and ranges mean the file itself then.
    "accept-encoding": "identity",
    ...(isResumed && { range: `bytes=${resumed}-`, "if-range": tag }),
  };
  return network.request({ ...request, method: "GET", headers, follow: true }, async (response) => {
    const { status, url } = response;
    const mime = response.headers["content-type"];
    if (isResumed && (status === 416 || (status === 206 && !continuesPart(part, response)))) return undefined;
    if (status === 206 && isResumed) {
      await receive(part, response, rangeOf(response)?.total, request);
      return { resumed, url, mime };
    }
    if (status !== 200) throw notAFile(response);
    await part.restart(strongTag(response)).catch(toThrow);
    await receive(part, response, lengthOf(response), request);
    return { resumed: 0, url, mime };
  });
}

async function fetchAnew(part: Part, network: Network, request: DownloadRequest) {
  await part.restart(undefined).catch(toThrow);
  const fetched = await fetchInto(part, network, request);
  // It answers undefined only to a request for the rest.
  return fetched!;
}

/** Whether the answer begins where the part ends, and is of the same file. */
function continuesPart(part: Part, response: HttpResponse): boolean {
  return rangeOf(response)?.start === part.size && strongTag(response) === part.tag;
}

async function receive(
  part: Part,
  response: HttpResponse,
  total: number | undefined,
  request: DownloadRequest,
): Promise<void> {
  const { maxBytes, onProgress } = request;
  const host = response.url.host;
  if (total !== undefined && total > maxBytes)
    throw new ToolError("TOO_LARGE", `the file at ${host} has ${total} bytes; max_size allows ${maxBytes}`, {
      limit: maxBytes,
      actual: total,
      what: "bytes",
    });
  for await (const chunk of response.body(maxBytes - part.size)) {
    await part.append(chunk).catch(toThrow);
    onProgress(part.size, total);
  }
  if (total === undefined || part.size === total) return;
  const message = `${host} announced ${total} bytes and sent ${part.size}; call again to fetch the rest`;
  if (part.size > total) await part.restart(undefined).catch(toThrow);
  throw new ToolError("UPSTREAM_ERROR", message, {});
}

function rangeOf({ headers }: HttpResponse): { start: number; total: number | undefined } | undefined {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers["content-range"] ?? "") ?? [];
  if (start === undefined) return undefined;
  return { start: Number(start), total: total === "*" ? undefined : Number(total) };
}

/** A weak tag says only that two files mean the same, not that their bytes are equal. */
function strongTag({ headers: { etag } }: HttpResponse): string | undefined {
  return etag?.startsWith('"') ? etag : undefined;
}

const lengthOf = ({ headers }: HttpResponse): number | undefined =>
  headers["content-length"] === undefined || headers["content-encoding"] !== undefined
    ? undefined
    : Number(headers["content-length"]);

const notAFile = ({ status, url }: HttpResponse) =>
  new ToolError("UPSTREAM_ERROR", `${url.host} answered with status ${status} instead of a file`, { status });

const toThrow = (cause: unknown): never => {
  throw toToolError(cause, "the state folder");
};
