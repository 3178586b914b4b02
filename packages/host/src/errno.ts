/** The name of a system error, such as ENOENT; undefined for any other error. */
export function errnoOf(cause: unknown): string | undefined {
  const isSystemError =
    cause instanceof Error && "errno" in cause && "code" in cause && typeof cause.code === "string";
  return isSystemError ? (cause.code as string) : undefined;
}
