import type { AnyAction } from "@octant/core";

export interface Annotations {
  readonly readOnlyHint: boolean;
  /** Says nothing about what only reads, and is left out there. */
  readonly destructiveHint?: boolean;
  readonly openWorldHint: boolean;
}

/** Hosts grant permission per name, so the hints of a name hold for the boldest of its actions. */
export function toAnnotations(actions: readonly AnyAction[]): Annotations {
  const readOnly = actions.every(({ access }) => access === "read");
  return {
    readOnlyHint: readOnly,
    ...(!readOnly && { destructiveHint: actions.some(({ destructive }) => destructive) }),
    openWorldHint: actions.some(({ openWorld }) => openWorld),
  };
}
