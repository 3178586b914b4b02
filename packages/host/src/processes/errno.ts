/** What the system threw has a code; of anything else its name is all that may be told. */
export const errnoOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
