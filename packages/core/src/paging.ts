import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { ToolError } from "./errors.ts";

const MAC_BYTES = 16;
const MAX_CURSOR_CHARS = 65_536;

/** The two parameters of every action that lists or searches. */
export const pagingInput = (byDefault: number, most: number) => ({
  limit: z.int().min(1).max(most).default(byDefault),
  cursor: z.string().min(1).max(MAX_CURSOR_CHARS).optional(),
});

/** Seals values that callers hold: they are valid for one scope, in every process that shares the secret. */
export function createSeal(secret: Uint8Array) {
  const sign = (scope: string, body: Buffer) =>
    createHmac("sha256", secret)
      .update(`${scope.length}:${scope}`)
      .update(body)
      .digest()
      .subarray(0, MAC_BYTES);

  return {
    seal(scope: string, value: unknown): string {
      const body = Buffer.from(JSON.stringify(value));
      return Buffer.concat([sign(scope, body), body]).toString("base64url");
    },
    /** undefined when it was changed, or is for another scope. */
    open(scope: string, sealed: string): unknown {
      const bytes = Buffer.from(sealed, "base64url");
      const body = bytes.subarray(MAC_BYTES);
      const intact =
        bytes.length > MAC_BYTES && timingSafeEqual(bytes.subarray(0, MAC_BYTES), sign(scope, body));
      // Re-encoding refuses the other spellings of the same bytes, so that a sealed value is one string.
      return intact && bytes.toString("base64url") === sealed ? JSON.parse(body.toString()) : undefined;
    },
  };
}

export type Cursors = ReturnType<typeof createCursors>;

/** A cursor is valid for one query of one action, which the scope names. */
export function createCursors(secret: Uint8Array) {
  const { seal, open } = createSeal(secret);
  return {
    encode: seal,
    parse(scope: string, cursor: string): unknown {
      const position = open(scope, cursor);
      if (position === undefined) throw staleCursor();
      return position;
    },
  };
}

export const staleCursor = () =>
  new ToolError(
    "INVALID_CURSOR",
    "the cursor is not from this query or is no longer valid; call again without it",
    {},
  );
