import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { PreviewTarget } from "./preview-address.ts";

export const COOKIE = "octant_preview";

/** Between two neighbours only (RFC 9110, 7.6.1). */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
/** They would change how a browser reaches the hub's name. */
const NOT_FOR_BROWSERS = ["strict-transport-security", "alt-svc"];

/**
 * The headers for the container: its own address as Host and Origin, which development servers check, and none of the
 * hub's credentials. An Authorization header is the application's own only when a cookie opened the preview.
 */
export function toContainer(
  headers: IncomingHttpHeaders,
  { port }: PreviewTarget,
  { keepsAuthorization }: { readonly keepsAuthorization: boolean },
): OutgoingHttpHeaders {
  const { authorization, cookie, host, origin, ...rest } = withoutHops(headers);
  const own = cookiesOf(cookie).filter((pair) => !isOurs(pair));
  return {
    ...rest,
    host: `localhost:${port}`,
    "x-forwarded-host": host,
    ...(origin !== undefined && { origin: `http://localhost:${port}` }),
    ...(own.length > 0 && { cookie: own.join("; ") }),
    ...(keepsAuthorization && authorization !== undefined && { authorization }),
  };
}

/** The headers for the browser: cookies only for the preview's own name, and redirects within it. */
export function toBrowser(headers: IncomingHttpHeaders, { port }: PreviewTarget): OutgoingHttpHeaders {
  const { "set-cookie": cookies, location, ...rest } = withoutHops(headers);
  const kept = Object.entries(rest).filter(([name]) => !NOT_FOR_BROWSERS.includes(name));
  const own = cookies?.filter((cookie) => !isOurs(cookie)).map((cookie) => cookie.replace(DOMAIN, ""));
  return {
    ...Object.fromEntries(kept),
    ...(own && own.length > 0 && { "set-cookie": own }),
    ...(location !== undefined && { location: toOwnPath(location, port) }),
  };
}

/** The value of the preview's cookie. */
export const cookieOf = ({ cookie }: IncomingHttpHeaders): string | undefined =>
  cookiesOf(cookie)
    .find(isOurs)
    ?.slice(COOKIE.length + 1);

const DOMAIN = /;\s*domain=[^;]*/gi;
const isOurs = (pair: string): boolean => pair.trimStart().startsWith(`${COOKIE}=`);
const cookiesOf = (header = ""): readonly string[] =>
  header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair !== "");

function withoutHops(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const dropped = new Set([...HOP_BY_HOP, ...named]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
}

/** A server redirects to its own address, which the browser cannot reach. */
function toOwnPath(location: string, port: number): string {
  const url = URL.parse(location);
  const isServer =
    url && ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"].includes(url.hostname) && url.port === String(port);
  return isServer ? `${url.pathname}${url.search}${url.hash}` : location;
}
