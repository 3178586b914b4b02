import { hash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { HttpRefusal } from "@octant/http";
import { CONSOLE_PATH, KEY_HEADER } from "./api.ts";

const CODE_BYTES = 32;
/** A link is meant to be opened at once. */
const LINK_LIFE_MS = 10 * 60_000;
const MAX_LINKS = 20;
const COOKIE_LIFE_S = 7 * 24 * 3_600;
export const SESSION_LIFE_MS = COOKIE_LIFE_S * 1_000;

/** One-time links: each opens one page, soon. */
export function createLinks() {
  const expiries = new Map<string, number>();
  return {
    /** The code of a new link. */
    create(): string {
      const code = randomBytes(CODE_BYTES).toString("base64url");
      for (const oldest of expiries.keys()) if (expiries.size >= MAX_LINKS) expiries.delete(oldest);
      expiries.set(digest(code), Date.now() + LINK_LIFE_MS);
      return code;
    },
    /** True once per link. */
    redeem(code: string): boolean {
      const key = digest(code);
      const expiry = expiries.get(key);
      expiries.delete(key);
      return expiry !== undefined && expiry > Date.now();
    },
  };
}

/** Looked up by digest, so that the time of a lookup tells nothing about a code. */
const digest = (code: string) => hash("sha256", code, "hex");

/**
 * A token in two shares, each of which is random without the other. The browser sends the cookie to every server on the
 * host, whatever its port; only the page of this port has the key.
 */
export interface Shares {
  readonly cookie: string;
  readonly key: string;
}

export function splitToken(token: string): Shares {
  const bytes = Buffer.from(token);
  const pad = randomBytes(bytes.length);
  return { cookie: pad.toString("base64url"), key: mix(bytes, pad).toString("base64url") };
}

/** Shares that do not belong together give a text that is not a token. */
function joinToken({ cookie, key }: Shares): string | undefined {
  const pad = Buffer.from(cookie, "base64url");
  const mixed = Buffer.from(key, "base64url");
  return pad.length === mixed.length && pad.length > 0 ? mix(mixed, pad).toString("latin1") : undefined;
}

const mix = (bytes: Uint8Array, pad: Uint8Array): Buffer =>
  Buffer.from(bytes.map((byte, index) => byte ^ (pad[index] ?? 0)));

/** Cookies do not differ by port, so the name does: two consoles on one machine keep apart. */
const cookieName = ({ socket }: IncomingMessage) => `octant_console_${socket.localPort}`;

const isSecure = ({ socket }: IncomingMessage) => "encrypted" in socket;

/** The Set-Cookie header; without a value it removes the cookie. */
export function toCookie(request: IncomingMessage, value: string | undefined): string {
  const age = value === undefined ? 0 : COOKIE_LIFE_S;
  const attributes = [
    `${cookieName(request)}=${value ?? ""}`,
    `Path=${CONSOLE_PATH}`,
    `Max-Age=${age}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(isSecure(request) ? ["Secure"] : []),
  ];
  return attributes.join("; ");
}

/** The token of the page that sent the request; undefined unless it has the cookie and the key. */
export function tokenOfPage(request: IncomingMessage): string | undefined {
  const name = `${cookieName(request)}=`;
  const pairs = (request.headers.cookie ?? "").split(";").map((pair) => pair.trim());
  const cookie = pairs.find((pair) => pair.startsWith(name))?.slice(name.length);
  const key = request.headers[KEY_HEADER];
  return cookie && typeof key === "string" ? joinToken({ cookie, key }) : undefined;
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
  if (headers[KEY_HEADER] !== undefined && isOwn && !isForeign) return undefined;
  return {
    status: 403,
    message: `a request of the page needs the header ${KEY_HEADER} and comes from the page of the console`,
  };
}
