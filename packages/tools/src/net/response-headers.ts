import type { HttpResponse } from "@octant/host";

const MAX_HEADERS = 60;
const MAX_VALUE_CHARS = 1_000;

/** The response headers as shown to the caller: short, and without secrets. */
export function toShownHeaders(
  headers: HttpResponse["headers"],
  { cookies }: { readonly cookies: boolean },
): Record<string, string | string[]> {
  const shown = Object.entries(headers)
    .slice(0, MAX_HEADERS)
    .map(([name, value = ""]) => [name, toShown(name, value, cookies)] as const);
  return Object.fromEntries(shown);
}

function toShown(name: string, value: string | string[], cookies: boolean): string | string[] {
  if (Array.isArray(value))
    return value.map((one) => shorten(name === "set-cookie" && !cookies ? toCookieName(one) : one));
  return shorten(name === "location" ? withoutCredentials(value) : value);
}

/** `session=…` with its attributes; the value would give access to the session. */
const toCookieName = (cookie: string): string => cookie.replace(/^([^=;]*)=[^;]*/, "$1=[hidden]");

/** Also in an incomplete URL. */
const withoutCredentials = (location: string): string =>
  location.replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/?#]*@/i, "$1//");

const shorten = (value: string): string =>
  value.length > MAX_VALUE_CHARS ? `${value.slice(0, MAX_VALUE_CHARS)}…` : value;
