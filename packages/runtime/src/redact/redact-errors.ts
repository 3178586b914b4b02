import { type Step, ToolError } from "@octant/core";
import type { Redact } from "./redactor.ts";

/** A step that removes secrets from error messages. Details are unchanged: a patch must not change. */
export const redactErrors =
  (redact: Redact): Step =>
  async (_call, _ctx, next) => {
    try {
      return await next();
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      const message = redact(cause.message);
      throw message === cause.message ? cause : new ToolError(cause.code, message, cause.details, { cause });
    }
  };
