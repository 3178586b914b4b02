import { RequestError } from "@agentclientprotocol/sdk";
import { ToolError } from "@octant/core";

export const NOT_FOUND = -32_002;

/** Replies with a protocol error where there is one for the error of a tool or the store. */
export function orExplain<C, R>(handle: (context: C) => R | Promise<R>): (context: C) => Promise<R> {
  return async (context) => {
    try {
      return await handle(context);
    } catch (cause) {
      if (cause instanceof RequestError || !(cause instanceof ToolError)) throw cause;
      const { code, message } = cause;
      if (code === "UNAUTHENTICATED") throw RequestError.authRequired(undefined, message);
      if (code === "NOT_FOUND") throw new RequestError(NOT_FOUND, message);
      if (code === "INVALID_ARGUMENT" || code === "NOT_A_DIRECTORY")
        throw RequestError.invalidParams(undefined, message);
      throw RequestError.internalError({ code }, message);
    }
  };
}
