import { attempt, ToolError } from "@octant/core";
import type { Destination } from "./host-patterns.ts";

/** A URL that may be requested, without its credentials. */
export interface Target extends Destination {
  /** Without user, password and fragment. */
  readonly url: URL;
  /** Name and port as people write them; all that an error says about a URL. */
  readonly shown: string;
  /** The Authorization header built from the URL's user and password. */
  readonly authorization?: string;
}

/**
 * Parses a URL as browsers do, so that every spelling of an address becomes one; INVALID_ARGUMENT when it is invalid.
 */
export function parseTarget(text: string): Target {
  const url = URL.parse(text);
  if (!url) throw notAUrl("url is not an absolute URL, such as https://example.com/page");
  if (!isHttp(url)) throw notAUrl(`only http and https can be reached, not ${url.protocol}`);
  return toTarget(url);
}

export const isHttp = ({ protocol }: URL): boolean => protocol === "http:" || protocol === "https:";

/** Only for http and https, which always have a host. */
export function toTarget(given: URL): Target {
  const url = new URL(given);
  const authorization = toAuthorization(url);
  url.username = "";
  url.password = "";
  url.hash = "";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? (url.protocol === "https:" ? HTTPS_PORT : HTTP_PORT) : Number(url.port);
  return { url, host, port, shown: url.host, ...(authorization && { authorization }) };
}

const HTTP_PORT = 80;
const HTTPS_PORT = 443;

function toAuthorization({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  // A percent sign that starts no valid escape is literal.
  const decode = (text: string) => attempt(() => decodeURIComponent(text)) ?? text;
  const pair = [username, password].map(decode).join(":");
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

const notAUrl = (message: string) =>
  new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "url", message }] });
