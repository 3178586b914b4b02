import type { ErrorCode } from "@octant/core";

/** Errors of every action that takes a position in a file. */
export const SPOT_ERRORS: readonly ErrorCode[] = [
  ...(["NOT_FOUND", "NOT_A_FILE", "NOT_TEXT", "TOO_LARGE", "OUTSIDE_WORKSPACE", "ACCESS_DENIED"] as const),
];
export const LIST_ERRORS: readonly ErrorCode[] = [...SPOT_ERRORS, "INVALID_CURSOR", "EXEC_FAILED", "TIMEOUT"];
export const EDIT_ERRORS: readonly ErrorCode[] = [
  ...SPOT_ERRORS,
  ...([
    "UNSUPPORTED",
    "CONFLICT",
    "PROTECTED_PATH",
    "PATCH_FAILED",
    "LOCKED",
    "NO_SPACE",
    "IO_ERROR",
  ] as const),
  ...(["EXEC_FAILED", "UPSTREAM_ERROR"] as const),
];
