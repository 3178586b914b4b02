/** The name of a system error, such as ENOENT; undefined for anything that is none. */
export const errnoOf = (cause: unknown): string | undefined =>
  cause instanceof Error && "errno" in cause && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : undefined;

/** Undefined when the file is not there: heads are renamed by those who take or leave a chain, and parts are let go. */
export function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}
