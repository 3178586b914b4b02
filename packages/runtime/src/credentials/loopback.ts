import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ToolError } from "@octant/core";

const PATH = "/callback";
const MAX_WAIT_MS = 5 * 60_000;
const PAGE = `<!doctype html><meta charset="utf-8"><title>Octant</title><p>You can close this page and go back to the terminal.`;

/**
 * Where a browser comes back to after a sign-in: a free port of this machine only (RFC 8252 section 7.3), for one
 * answer.
 */
export async function openRedirect(isExpected: (answer: URLSearchParams) => boolean) {
  const { promise, resolve } = Promise.withResolvers<URL>();
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? "", origin());
    const fits = request.method === "GET" && url?.pathname === PATH && isExpected(url.searchParams);
    // Something else on this machine may ask too; it neither gets anything nor ends the wait.
    response.writeHead(fits ? 200 : 404, {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "content-security-policy": "default-src 'none'",
      connection: "close",
    });
    response.end(fits ? PAGE : "");
    if (fits) resolve(url);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // Of a server that listens on an address, not on a path.
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const uri = `${origin()}${PATH}`;
  return {
    uri,
    /** The address that the browser was sent to, once it has come; TIMEOUT when it does not. */
    async received(signal: AbortSignal): Promise<URL> {
      const late = AbortSignal.timeout(MAX_WAIT_MS);
      const ended = new Promise<never>((_, reject) => {
        const fail = () =>
          reject(
            late.aborted
              ? new ToolError("TIMEOUT", "the sign-in was not completed in the browser", {
                  after_ms: MAX_WAIT_MS,
                })
              : signal.reason,
          );
        AbortSignal.any([late, signal]).addEventListener("abort", fail, { once: true });
      });
      return Promise.race([promise, ended]);
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
}

/** RFC 7636 section 4.1. */
const VERIFIER = /^[A-Za-z0-9\-._~]{43,128}$/;

export const isVerifier = (text: string): boolean => VERIFIER.test(text);

/** The S256 challenge of a verifier. */
export const toChallenge = (verifier: string): string =>
  createHash("sha256").update(verifier, "ascii").digest("base64url");
