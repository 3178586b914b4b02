import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { ToolError } from "./errors.ts";

const MAC_BYTES = 16;
const MAX_CURSOR_CHARS = 65_536;

/** The two parameters of every action that lists or searches. */
export const pagingInput = (byDefault: number, most: number) => ({
  limit: z.int().min(1).max(most).default(byDefault),
  cursor: z.string().min(1).max(MAX_CURSOR_CHARS).optional().describe("From meta.paging"),
});

export type Cursors = ReturnType<typeof createCursors>;

/**
 * A cursor is valid for one query of one action: `scope` names both, and a cursor for another is refused. The secret
 * makes cursors valid in every process that shares it, and in no other.
 */
export function createCursors(secret: Uint8Array) {
  const sign = (scope: string, body: Buffer) =>
    createHmac("sha256", secret)
      .update(`${scope.length}:${scope}`)
      .update(body)
      .digest()
      .subarray(0, MAC_BYTES);

  return {
    encode(scope: string, position: unknown): string {
      const body = Buffer.from(JSON.stringify(position));
      return Buffer.concat([sign(scope, body), body]).toString("base64url");
    },
    parse(scope: string, cursor: string): unknown {
      const bytes = Buffer.from(cursor, "base64url");
      const body = bytes.subarray(MAC_BYTES);
      const intact =
        bytes.length > MAC_BYTES && timingSafeEqual(bytes.subarray(0, MAC_BYTES), sign(scope, body));
      // Re-encoding refuses the other spellings of the same bytes, so that a cursor is one string.
      if (!intact || bytes.toString("base64url") !== cursor) throw staleCursor();
      return JSON.parse(body.toString());
    },
  };
}

export const staleCursor = () =>
  new ToolError(
    "INVALID_CURSOR",
    "the cursor is not from this query or is no longer valid; call again without it",
    {},
  );
