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
  const [, explanation = ""] = EXPLANATIONS.find(([pattern]) => pattern.test(code)) ?? [];
  const message = `${target.shown} ${explanation.replace("%", code)}`;
  return new ToolError("UPSTREAM_ERROR", message, {}, { cause: code });
}

export const MAX_HEADER_BYTES = 64 * 1024;

/** Also of errors that are Node's own and not the system's. */
export function codeOf(cause: unknown): string | undefined {
  // When every address of a name refuses, the codes are inside.
  const one = cause instanceof AggregateError ? (cause.errors[0] ?? cause) : cause;
  return one instanceof Error && "code" in one && typeof one.code === "string" ? one.code : undefined;
}

/** The first pattern that a code matches explains it; `%` is the code. */
const EXPLANATIONS: readonly (readonly [RegExp, string])[] = [
  [
    /^(ENOTFOUND|EAI_AGAIN|EAI_FAIL|ENODATA)$/,
    "cannot be found: its name has no address (%); look for a typing mistake, or for a missing network",
  ],
  [/^ECONNREFUSED$/, "refused the connection; nothing listens there, or a firewall blocks it"],
  [/^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, "closed the connection (%); try again"],
  [
    /^(EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EADDRNOTAVAIL)$/,
    "cannot be reached from this machine (%); check the address and the network",
  ],
  [/^HPE_/, "did not answer in HTTP (%); check the port and the scheme, http or https"],
  [/^(Z_|ERR__?ZSTD|ERR_BROTLI|ERR__ERROR|ERR_ZLIB|ZSTD_)/, "sent a body that cannot be decompressed (%)"],
  [
    /CERT|TLS|SSL|ISSUER|SIGNATURE|PROTO/,
    "cannot be reached over TLS (%); check its certificate and the port",
  ],
  [/./, "failed to answer the request (%)"],
];
