import { hash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { HttpRefusal } from "@octant/http";
import { CONSOLE_PATH, CSRF_HEADER } from "./api.ts";

const CODE_BYTES = 32;
/** A link is meant to be opened at once. */
const LINK_LIFE_MS = 10 * 60_000;
const MAX_LINKS = 20;
const COOKIE_LIFE_S = 7 * 24 * 3_600;
export const SESSION_LIFE_MS = COOKIE_LIFE_S * 1_000;

export type Links = ReturnType<typeof createLinks>;

/** One-time links: each opens one page, soon. */
export function createLinks(now: () => number = Date.now) {
  const expiries = new Map<string, number>();
  return {
    /** The code of a new link. */
    create(): string {
      const code = randomBytes(CODE_BYTES).toString("base64url");
      for (const oldest of expiries.keys()) if (expiries.size >= MAX_LINKS) expiries.delete(oldest);
      expiries.set(digest(code), now() + LINK_LIFE_MS);
      return code;
    },
    /** True once per link. */
    redeem(code: string): boolean {
      const key = digest(code);
      const expiry = expiries.get(key);
      expiries.delete(key);
      return expiry !== undefined && expiry > now();
    },
  };
}

/** Looked up by digest, so that the time of a lookup tells nothing about a code. */
const digest = (code: string) => hash("sha256", code, "hex");

/** Cookies do not differ by port, so the name does: two consoles on one machine keep apart. */
const cookieName = ({ socket }: IncomingMessage) => `octant_console_${socket.localPort}`;

const isSecure = ({ socket }: IncomingMessage) => "encrypted" in socket;

/** The Set-Cookie header; without a token it removes the cookie. */
export function toCookie(request: IncomingMessage, token: string | undefined): string {
  const age = token === undefined ? 0 : COOKIE_LIFE_S;
  const attributes = [
    `${cookieName(request)}=${token ?? ""}`,
    `Path=${CONSOLE_PATH}`,
    `Max-Age=${age}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(isSecure(request) ? ["Secure"] : []),
  ];
  return attributes.join("; ");
}

/** The token in the cookie of the request. */
export function tokenInCookie(request: IncomingMessage): string | undefined {
  const name = `${cookieName(request)}=`;
  const pairs = (request.headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(name))?.slice(name.length) || undefined;
}

/**
 * Why a request that changes something is not from our page; undefined when it is. A request with an Authorization
 * header was not sent by a browser on behalf of another page.
 */
export function findForgery({ headers }: IncomingMessage): HttpRefusal | undefined {
  if (headers.authorization !== undefined) return undefined;
  // The listener has compared Origin with Host.
  const isOwn = headers["sec-fetch-site"] === "same-origin" || headers.origin !== undefined;
  const isForeign = (headers["sec-fetch-site"] ?? "same-origin") !== "same-origin";
  if (headers[CSRF_HEADER] !== undefined && isOwn && !isForeign) return undefined;
  return {
    status: 403,
    message: `a request with a cookie needs the header ${CSRF_HEADER} and comes from the page of the console`,
  };
}
