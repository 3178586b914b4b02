import { ToolError } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import { isWithin, type Path } from "../path.ts";

export interface PresentRoots {
  /** At least one. */
  readonly present: readonly Path[];
  readonly missing: readonly Path[];
}

/** The folders that a search of the whole workspace visits: a root inside another is searched with it. */
export function presentRoots(confinement: Pick<Confinement, "roots" | "openFolder">): PresentRoots {
  const { roots } = confinement;
  const outer = roots.filter((root) => !roots.some((other) => other !== root && isWithin(other, root)));
  const present = outer.filter((root) => isPresent(confinement, root));
  if (present.length > 0) return { present, missing: outer.filter((root) => !present.includes(root)) };
  throw new ToolError("NOT_FOUND", "every workspace root has been removed; restart the server", {
    id: "workspace root",
  });
}

function isPresent({ openFolder }: Pick<Confinement, "openFolder">, root: Path): boolean {
  try {
    openFolder(root)[Symbol.dispose]();
    return true;
  } catch (error) {
    if (error instanceof ToolError && error.code === "NOT_FOUND") return false;
    throw error;
  }
}
