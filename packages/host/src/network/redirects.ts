import { ToolError } from "@octant/core";
import { blocked } from "./policy.ts";
import { isHttp, type Target, toTarget } from "./target.ts";

/** One request on the way to the answer. */
export interface Hop {
  readonly target: Target;
  readonly method: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export const isRedirect = (status: number): boolean => REDIRECTS.has(status);

/** The next request after a redirect; credentials are sent only to their original origin. */
export function nextHop(hop: Hop, status: number, location: string): Hop {
  const target = toNextTarget(hop.target, location);
  const isSameOrigin = target.url.origin === hop.target.url.origin;
  const secret = Object.keys(hop.headers).filter((name) => !HARMLESS.has(name));
  if (hop.target.url.protocol === "https:" && target.url.protocol === "http:" && secret.length > 0)
    throw blocked(
      target,
      `${hop.target.shown} redirects from https to http, and the request carries ${secret.join(", ")}`,
    );

  const method = nextMethod(hop.method, status);
  const body = method === hop.method ? hop.body : undefined;
  if (body && !isSameOrigin)
    throw blocked(
      target,
      `${hop.target.shown} redirects the body to another origin; send it there yourself if that is intended`,
    );
  const headers = Object.entries(hop.headers).filter(
    ([name]) => (isSameOrigin || HARMLESS.has(name)) && (body || !name.startsWith("content-")),
  );
  return { target, method, headers: Object.fromEntries(headers), body };
}

function toNextTarget(from: Target, location: string): Target {
  const url = URL.parse(location, from.url.href);
  if (!url) throw new ToolError("UPSTREAM_ERROR", `${from.shown} redirects to an invalid URL`, {});
  if (!isHttp(url))
    throw blocked(
      { shown: url.protocol },
      `${from.shown} redirects there, and only http and https are followed`,
    );
  const target = toTarget(url);
  if (target.authorization)
    throw blocked(target, `${from.shown} redirects there with credentials of its own`);
  return target;
}

/** As browsers do: 303 asks for another page, and so do 301 and 302 after a POST. */
function nextMethod(method: string, status: number): string {
  if (status === 303) return method === "HEAD" ? "HEAD" : "GET";
  return (status === 301 || status === 302) && method === "POST" ? "GET" : method;
}

/** Headers that never hold secrets; all others are sent to the first origin only. */
const HARMLESS = new Set([
  ...["accept", "accept-encoding", "accept-language", "cache-control", "content-language", "content-type"],
  ...["if-range", "pragma", "range", "user-agent"],
]);
