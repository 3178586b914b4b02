import { realpathSync } from "node:fs";
import { ToolError } from "@octant/core";
import { fromNative, toNative } from "../path.ts";
import { stampOf, statOf, watchedIn } from "./home.ts";
import type { Mount } from "./mount.ts";
import { homeOf, type PlanOptions, planMounts } from "./plan.ts";
import { isInPlace, listProtected } from "./protected.ts";

export interface Plans {
  /** The mounts for a command; the same list as long as nothing of what it was made from has changed. */
  get(wish: Wish): readonly Mount[];
}

export interface Wish extends Pick<PlanOptions, "extra" | "besides" | "readOnly"> {
  readonly changesProtected: boolean;
}

interface Known {
  readonly watched: readonly string[];
  readonly stamp: string;
  readonly mounts: readonly Mount[];
}

type Fixed = Omit<PlanOptions, "protectedMounts" | "isOurs" | "extra" | "besides" | "readOnly">;

/** Looks at the home and the workspace before each command, and plans anew only when they look different. */
export function createPlans(options: Fixed): Plans {
  const { roots, env } = options;
  const home = homeOf(env);
  const guarded = roots.flatMap(listProtected);
  const known = new Map<string, Known>();
  return {
    get({ changesProtected, ...wish }) {
      for (const root of roots) checkRoot(root);
      const protectedMounts = changesProtected ? [] : guarded.filter(isInPlace);
      const places = protectedMounts.map(({ at }) => at);
      const key = JSON.stringify([changesProtected, wish, places]);
      const last = known.get(key);
      if (last && stampOf(last.watched) === last.stamp) return last.mounts;
      // Before the plan: what changes meanwhile is seen the next time.
      const watched = [...watchedIn(home), ...(wish.besides ?? []).filter(isFile)];
      const stamp = stampOf(watched);
      const mounts = planMounts({ ...options, ...wish, protectedMounts, isOurs: changesProtected });
      known.set(key, { watched, stamp, mounts });
      return mounts;
    },
  };
}

const isFile = (path: string): boolean => statOf(path)?.isFile() === true;

/** Somebody who can write beside a root could have put a link in its place, and the launcher would follow it. */
function checkRoot(root: string): void {
  if (fromNative(realpathSync(toNative(root), "buffer")) === root) return;
  const message = "a workspace root has been replaced by a link since the server started; restart it";
  throw new ToolError("PERMISSION_DENIED", message, { by: "sandbox" });
}
