import { ofKind } from "@octant/core";
import { z } from "zod";

const MAX_URL_CHARS = 16_384;
const MAX_HEADERS = 100;
const MAX_HEADER_CHARS = 16_384;
const MAX_TIMEOUT_MS = 10 * 60_000;

/** The parameters shared by the actions. */
export const Url = ofKind("host", z.string().min(1).max(MAX_URL_CHARS).describe("http or https"));

export const timeout = (defaultMs: number) =>
  z.int().min(1).max(MAX_TIMEOUT_MS).default(defaultMs).describe("Total milliseconds");

export const maxSize = (defaultBytes: number, maxBytes: number) =>
  z.int().min(1).max(maxBytes).default(defaultBytes).describe("Maximum bytes");

/** Set by us, or hop-by-hop headers. */
const RESERVED = new Set([
  ...["host", "connection", "content-length", "expect", "keep-alive", "te", "trailer", "upgrade"],
  ...["proxy-authorization", "proxy-connection", "transfer-encoding"],
]);

const HeaderName = z
  .string()
  .max(200)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "a header's name is letters, digits and dashes")
  .refine((name) => !RESERVED.has(name.toLowerCase()), "this header is set by Octant and cannot be given");

const HeaderValue = z
  .string()
  .max(MAX_HEADER_CHARS)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, "a header's value is one line of Latin-1 text");

/** Headers by lower-case name; of two spellings of one name the last wins. */
export const RequestHeaders = z
  .record(HeaderName, HeaderValue)
  .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, `at most ${MAX_HEADERS} headers`)
  .transform((headers) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  )
  .default({});
