import type { AnyAction } from "@octant/core";

export interface Annotations {
  readonly readOnlyHint: boolean;
  /** Meaningless for read-only actions, and left out there. */
  readonly destructiveHint?: boolean;
  readonly openWorldHint: boolean;
}

/** Hosts grant permission per name, so the hints of a name cover its most powerful action. */
export function toAnnotations(actions: readonly AnyAction[]): Annotations {
  const readOnly = actions.every(({ access }) => access === "read");
  return {
    readOnlyHint: readOnly,
    ...(!readOnly && { destructiveHint: actions.some(({ destructive }) => destructive) }),
    openWorldHint: actions.some(({ openWorld }) => openWorld),
  };
}
