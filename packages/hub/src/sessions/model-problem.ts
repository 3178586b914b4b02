import { ToolError } from "@octant/core";

/** The errors of a choice of model name flags of `octant run`, which a hub does not have. */
const IN_A_HUB =
  "In a hub: set the variable or sign in as the user who runs octant hub, and start it again; project.update and session.spawn take the name of a model";

/** Why a session cannot work, with what helps in a hub. */
export function describeProblem(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return isModelMissing(cause) ? `${message}\n${IN_A_HUB}` : message;
}

function isModelMissing(cause: unknown): boolean {
  if (!(cause instanceof ToolError)) return false;
  if (cause.code === "UNAUTHENTICATED") return true;
  return cause.code === "INVALID_ARGUMENT" && JSON.stringify(cause.details).includes('"path":"model"');
}
