import { ToolError } from "@octant/core";
import type { Target } from "./target.ts";

/** The network failure without the cause's text, which may contain parts of the URL. */
export function toNetworkError(cause: unknown, target: Target): unknown {
  // A TypeError from Node about our arguments is our bug.
  if (cause instanceof ToolError || cause instanceof TypeError) return cause;
  const code = codeOf(cause);
  if (code === undefined) return cause;
  if (code === "HPE_HEADER_OVERFLOW") {
    const message = `${target.shown} sent more than ${MAX_HEADER_BYTES} bytes of headers`;
    return new ToolError(
      "LIMIT_EXCEEDED",
      message,
      { limit: MAX_HEADER_BYTES, what: "header bytes" },
      { cause: code },
    );
  }
  return new ToolError("UPSTREAM_ERROR", `${target.shown} ${sayCode(code)}`, {}, { cause: code });
}

export const MAX_HEADER_BYTES = 64 * 1024;

/** Also of errors that are Node's own and not the system's. */
export function codeOf(cause: unknown): string | undefined {
  // When every address of a name refuses, the codes are inside.
  const one = cause instanceof AggregateError ? (cause.errors[0] ?? cause) : cause;
  return one instanceof Error && "code" in one && typeof one.code === "string" ? one.code : undefined;
}

function sayCode(code: string): string {
  switch (code) {
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EAI_FAIL":
    case "ENODATA":
      return `cannot be found: its name has no address (${code}); look for a typing mistake, or for a missing network`;
    case "ECONNREFUSED":
      return "refused the connection; nothing listens there, or a firewall says no";
    case "ECONNRESET":
    case "EPIPE":
    case "ERR_STREAM_PREMATURE_CLOSE":
      return `broke off the connection (${code}); try again`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "ETIMEDOUT":
    case "EADDRNOTAVAIL":
      return `cannot be reached from this machine (${code})`;
    default:
      return explain(code);
  }
}

function explain(code: string): string {
  if (code.startsWith("HPE_"))
    return `did not answer in HTTP (${code}); look at the port and at http or https`;
  if (/^(Z_|ERR__?ZSTD|ERR_BROTLI|ERR__ERROR|ERR_ZLIB|ZSTD_)/.test(code))
    return `sent a body that cannot be decompressed (${code})`;
  if (/CERT|TLS|SSL|ISSUER|SIGNATURE|PROTO/.test(code))
    return `could not be trusted or understood over TLS (${code})`;
  return `could not be spoken to (${code})`;
}
