import { z } from "zod";

/** Declarations that most actions share: access, timing and intent. */
export const INSPECT = { access: "read", timing: "sync", intent: "inspect" } as const;
export const INSPECT_SHORT = { access: "read", timing: "async_short", intent: "inspect" } as const;
export const APPLY = { access: "write", timing: "sync", intent: "apply" } as const;
export const APPLY_SHORT = { access: "write", timing: "async_short", intent: "apply" } as const;
export const VERIFY = { access: "write", timing: "sync", intent: "verify" } as const;

/** Errors of every action that writes to a path. */
export const PATH_ERRORS = ["OUTSIDE_WORKSPACE", "PROTECTED_PATH", "ACCESS_DENIED"] as const;
export const DISK_ERRORS = ["LOCKED", "NO_SPACE", "IO_ERROR"] as const;

/** In the output of edits. */
export const EditNote = z
  .string()
  .optional()
  .describe("Repairs to make by hand after an earlier, interrupted edit");
