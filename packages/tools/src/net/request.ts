import { ANSWER_BYTES, action, MAX_ANSWER_BYTES } from "@octant/core";
import type { HttpResponse } from "@octant/host";
import { z } from "zod";
import { Content, toContent } from "./content.ts";
import { maxSize, RequestHeaders, timeout, Url } from "./inputs.ts";
import { parseJsonPath } from "./json-path.ts";
import type { NetOptions } from "./options.ts";
import { encodeBody, RequestBody } from "./request-body.ts";

const TIMEOUT_MS = 30_000;
const DEFAULT_STORED_BYTES = 10 * 1024 * 1024;
const MAX_STORED_BYTES = 64 * 1024 * 1024;
const MAX_PATH_CHARS = 1_000;

/** Headers that a next request depends on; without a body all headers are shown. */
const TELLING =
  /^(content-type|location|link|etag|last-modified|retry-after|www-authenticate|set-cookie|allow|x-ratelimit-.*|ratelimit.*)$/;

const JsonPath = z
  .string()
  .max(MAX_PATH_CHARS)
  .refine(
    (path) => parseJsonPath(path) !== undefined,
    'a path is keys and places: items[0].name, ["a b"], items[*].id',
  );

const Input = z.strictObject({
  url: Url,
  /** POST when there is a body, otherwise GET. */
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]).optional(),
  headers: RequestHeaders,
  body: RequestBody.optional(),
  as: z.enum(["text", "json", "markdown", "base64"]).optional().describe("Default: by type"),
  select: JsonPath.optional().describe("Select from JSON: items[0].name, items[*].id"),
  follow: z.boolean().default(true).describe("Follow redirects"),
  cookies: z.boolean().default(false).describe("Include set-cookie values"),
  timeout: timeout(TIMEOUT_MS),
  max_size: maxSize(DEFAULT_STORED_BYTES, MAX_STORED_BYTES),
  max_bytes: z.int().min(1).max(MAX_ANSWER_BYTES).default(ANSWER_BYTES).describe("Answer budget"),
});

export const request = ({ workspace, network, isRemote }: NetOptions) =>
  action({
    summary:
      "Send an HTTP request; every status is a result. HTML can be converted to Markdown, JSON filtered.",
    // Any URL can carry data out, whatever the method, so a read-only server does not offer this.
    access: "write",
    timing: "async_short",
    intent: "verify",
    openWorld: true,
    destructive: true,
    input: Input,
    output: z.object({
      status: z.int(),
      url: z.string().describe("Final URL after redirects"),
      redirects: z.int(),
      headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
      size: z.int().describe("Bytes of the body, decompressed"),
      ...Content,
    }),
    errors: [
      "NET_BLOCKED",
      "UPSTREAM_ERROR",
      "TIMEOUT",
      "TOO_LARGE",
      "LIMIT_EXCEEDED",
      "NOT_FOUND",
      "OUTSIDE_WORKSPACE",
    ],
    examples: [
      {
        title: "A page as Markdown",
        input: { url: "https://docs.example.invalid/guide", as: "markdown" },
        fails: "UPSTREAM_ERROR",
      },
      {
        title: "POST JSON and select one field",
        input: {
          url: "https://api.example.invalid/items",
          body: { json: { name: "lamp" } },
          headers: { Authorization: "Bearer abc" },
          select: "items[0].id",
        },
        fails: "UPSTREAM_ERROR",
      },
      {
        title: "A refused address",
        input: { url: "http://169.254.169.254/latest/meta-data/" },
        fails: "NET_BLOCKED",
      },
    ],
    text(data) {
      const { status, url, redirects, headers, size, title, tail, omitted, truncated, ref, note } = data;
      const content = data.text ?? data.base64 ?? (data.json === undefined ? "" : JSON.stringify(data.json));
      const shown = Object.entries(headers).filter(([name]) => content === "" || TELLING.test(name));
      const lines = shown.flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`));
      const gap =
        omitted &&
        `[… ${omitted.bytes} bytes omitted; continue with the ref at line ${omitted.start.line + 1} …]`;
      return {
        body: [
          `HTTP ${status}${redirects > 0 ? ` from ${url}` : ""}`,
          ...lines,
          "",
          ...(title ? [`# ${title}`, ""] : []),
          content,
          ...(tail === undefined ? [] : [gap ?? "[…]", tail]),
        ].join("\n"),
        notes: [`${size} bytes`, note],
        handles: truncated ? { ref } : {},
      };
    },
    async run(input, ctx) {
      const { url, body, follow, as, select } = input;
      const encoded = body === undefined ? undefined : await encodeBody(body, workspace.files, ctx);
      const sent = {
        url,
        method: input.method ?? (encoded ? "POST" : "GET"),
        headers: { ...(encoded && { "content-type": encoded.type }), ...input.headers },
        body: encoded?.bytes,
        follow,
        timeoutMs: input.timeout,
        isRemote: isRemote(ctx.caller),
        signal: ctx.signal,
      };
      const { head, bytes, type } = await network.request(sent, async (response) => ({
        head: {
          status: response.status,
          url: response.url.href,
          redirects: response.redirects,
          headers: toShownHeaders(response.headers, input.cookies),
        },
        bytes: Buffer.concat(await Array.fromAsync(response.body(input.max_size))),
        type: (response.headers["content-type"] ?? "").toLowerCase(),
      }));
      const wanted = { bytes, type, url: head.url, as, select, maxBytes: input.max_bytes };
      return { ...head, size: bytes.length, ...(await toContent(wanted, workspace, ctx)) };
    },
  });

const MAX_HEADERS = 60;
const MAX_VALUE_CHARS = 1_000;

/** The response headers as shown to the caller: short, and without secrets. */
function toShownHeaders(
  headers: HttpResponse["headers"],
  cookies: boolean,
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
