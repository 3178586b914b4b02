/** Declarations that most actions share. */
export const INSPECT = { access: "read", timing: "sync", intent: "inspect" } as const;
export const MAKE = { access: "write", timing: "async_short", intent: "apply" } as const;

/** Errors of actions that read a source, and of those that also store a result. */
export const SOURCE_ERRORS = [
  "NOT_FOUND",
  "NOT_A_FILE",
  "OUTSIDE_WORKSPACE",
  "ACCESS_DENIED",
  "TOO_LARGE",
  "LIMIT_EXCEEDED",
  "CONFLICT",
  "IO_ERROR",
] as const;
export const MAKE_ERRORS = [
  ...SOURCE_ERRORS,
  "ALREADY_EXISTS",
  "NOT_A_DIRECTORY",
  "PROTECTED_PATH",
  "LOCKED",
  "NO_SPACE",
] as const;
