import type { ServerResponse } from "node:http";

/** The time for a client to read its answer. */
const MAX_READING_MS = 60_000;

export function sendJson(
  response: ServerResponse,
  status: number,
  json: string,
  headers?: Readonly<Record<string, string>>,
): void {
  const length = Buffer.byteLength(json);
  response.writeHead(status, { "content-type": "application/json", "content-length": length, ...headers });
  // Node writes pure ASCII much faster as latin1.
  response.end(json, length === json.length ? "latin1" : "utf8");
  if (response.writableLength > 0) response.setTimeout(MAX_READING_MS, () => response.destroy());
}
