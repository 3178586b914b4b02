/** The name of a system error, such as ENOENT; undefined for anything that is none. */
export const errnoOf = (cause: unknown): string | undefined =>
  cause instanceof Error && "errno" in cause && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : undefined;
