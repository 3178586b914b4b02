import type { IncomingMessage, ServerResponse } from "node:http";

/** A page for a person who opens the server's address in a browser: what it is, and how a client connects. */
export function answerFrontPage(
  { method, url = "/" }: IncomingMessage,
  response: ServerResponse,
  endpoint: string,
): boolean {
  if ((method !== "GET" && method !== "HEAD") || !/^\/(?:\?|$)/.test(url)) return false;
  const body = Buffer.from(pageFor(endpoint));
  response.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "content-length": body.length,
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
  response.end(method === "HEAD" ? undefined : body);
  return true;
}

/** It is shown without a token, so it says nothing about the project. */
const pageFor = (endpoint: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Octant</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem;color:#222;background:#fff}code{background:#eee;padding:.1em .3em;border-radius:3px}@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}code{background:#333}}</style>
<h1>Octant is running</h1>
<p>This is an <a href="https://modelcontextprotocol.io">MCP</a> server: it gives AI agents tools over a software project. Agents connect to <code>${endpoint}</code>.</p>
<p>Every request needs the token that <code>octant serve --http</code> printed, as <code>Authorization: Bearer &lt;token&gt;</code>. The same command prints what to paste into each client; <code>octant token create</code> makes more tokens.</p>
</html>
`;
