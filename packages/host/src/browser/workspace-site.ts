import { createReadStream } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname } from "node:path";
import { ToolError } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import type { LocalSite } from "../network/http-proxy.ts";
import { fromNative, type Path, pathToUri, uriToPath } from "../path.ts";

/**
 * Serves files of the workspace as a site: a `file:` page could show any file of the machine. Browsers trust
 * *.localhost like https.
 */
const HOST = "workspace.localhost";

/** The address of a workspace file in the browser. */
export const toSiteUrl = (path: Path): string => `http://${HOST}${new URL(pathToUri(path)).pathname}`;

/** The URL as callers know it. */
export function toShownUrl(url: string): string {
  const prefix = `http://${HOST}/`;
  if (url.startsWith(prefix)) return `file:///${url.slice(prefix.length)}`;
  // Credentials in an address are for the server only.
  return url.replace(/^(https?:\/\/)[^/?#]*@/i, "$1");
}

/** Only for pages of the workspace itself: other sites must not load its files, not even as scripts. */
export const createWorkspaceSite = (confinement: Confinement): LocalSite => ({
  host: HOST,
  answer(request, url, response) {
    const from = request.headers["sec-fetch-site"];
    const isOwn = from === "same-origin" || from === "none";
    if (!isOwn) return end(response, 403, "only pages of the workspace can load its files");
    if (request.method !== "GET" && request.method !== "HEAD")
      return end(response, 405, "only GET works here");
    try {
      send(confinement, url, request, response);
    } catch (cause) {
      const isMissing = cause instanceof ToolError && cause.code === "NOT_FOUND";
      end(response, isMissing ? 404 : 403, cause instanceof ToolError ? cause.message : "it cannot be read");
    }
  },
});

function send(confinement: Confinement, url: URL, request: IncomingMessage, response: ServerResponse): void {
  const path = uriToPath(`file://${url.pathname}`, fromNative(Buffer.from("/")));
  const file = confinement.openFile(path);
  const done = () => file[Symbol.dispose]();
  response.writeHead(200, {
    "content-type": TYPES[extname(path).toLowerCase()] ?? "text/plain; charset=utf-8",
    "content-length": file.stat.size,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  if (request.method === "HEAD" || file.stat.size === 0) {
    done();
    response.end();
    return;
  }
  const bytes = createReadStream(pathToUri(path), { fd: file.fd, autoClose: false, end: file.stat.size - 1 });
  response.on("close", done);
  bytes.on("error", () => response.destroy());
  bytes.pipe(response);
}

function end(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${message}\n`);
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".htm": "text/html; charset=utf-8",
  ".xhtml": "application/xhtml+xml",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".ico": "image/x-icon",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
  ".pdf": "application/pdf",
  ".mp4": "video/mp4",
  ".webm": "video/webm",
  ".mp3": "audio/mpeg",
  ".xml": "application/xml",
};
