import { ToolError } from "@octant/core";
import { isWithin, type Path } from "../path.ts";
import { stampOf, watchedIn } from "./home.ts";
import { homeOf } from "./homes.ts";
import type { Mount } from "./mount.ts";
import { type PlanOptions, planMounts, resolveAllowed } from "./plan.ts";
import { identityOf, programsOfRepository } from "./protected.ts";
import { listeningSockets } from "./sockets.ts";
import { realPath, statOf } from "./tree.ts";

export interface Wish
  extends Pick<
    PlanOptions,
    "extra" | "besides" | "masked" | "readOnly" | "onlyWorkspace" | "apart" | "isOurs"
  > {
  readonly changesProtected: boolean;
  /** Protected entries that are mounted read-only. */
  readonly protectedMounts: readonly Mount[];
}

/** So that a wish that leaves these out has the same plan as one that names them. */
const UNSAID = { isOurs: false, extra: [], besides: [], masked: [], readOnly: false } as const;

/** Sockets come and go, and each set of them has a plan. */
const MAX_PLANS = 32;

type Fixed = Omit<PlanOptions, keyof Wish | "allowed" | "sockets">;

export type PlanCache = ReturnType<typeof createPlanCache>;

/** Looks at the home and the workspace before each command, and plans again only when they have changed. */
export function createPlanCache(options: Fixed) {
  const { roots, settings, env, state } = options;
  const home = homeOf(env);
  // Resolved before any command runs, because a command could replace an allowed path in a root with a link.
  const allowedAtStart = resolveAllowed(roots, settings);
  const isOpen = (path: Path) => !roots.some((root) => isWithin(root, path));
  const identities = new Map(roots.map((root) => [root, identityOf(root)]));
  const cache = new Map<string, { watched: readonly string[]; stamp: string; mounts: readonly Mount[] }>();

  /** A root that was removed is left out. */
  const findRoots = (): Path[] => {
    const present = roots.filter((root) => isPresent(root, roots, identities.get(root) ?? ""));
    if (present.length > 0) return present;
    throw new ToolError("NOT_FOUND", "every workspace root has been removed; restart the server", {
      id: "workspace root",
    });
  };

  return {
    /** The mounts for a command; cached until their inputs change. */
    get(asked: Wish): readonly Mount[] {
      const { changesProtected, protectedMounts, ...wish } = { ...UNSAID, ...asked };
      const present = findRoots();
      const allowed = [...new Set([...allowedAtStart, ...resolveAllowed(roots, settings).filter(isOpen)])];
      const inRoots = protectedMounts.filter(
        ({ at }) => isOpen(at) || present.some((root) => isWithin(root, at)),
      );
      const ofRepositories = wish.besides.flatMap(programsOfRepository);
      const mounted = changesProtected ? [] : [...inRoots, ...ofRepositories];
      // The control sockets of servers come and go there, and commands do not see that folder.
      const sockets = listeningSockets().filter((path) => !isWithin(state.base, path));
      const key = JSON.stringify([changesProtected, wish, mounted, present, allowed, sockets]);
      const last = cache.get(key);
      if (last && stampOf(last.watched) === last.stamp) return last.mounts;
      // Before the plan: a change during planning is seen the next time.
      const watched = [...watchedIn(home), ...wish.besides.filter(isFile)];
      const stamp = stampOf(watched);
      const mounts = planMounts({
        ...options,
        ...wish,
        roots: present,
        allowed,
        sockets,
        protectedMounts: mounted,
      });
      cache.set(key, { watched, stamp, mounts });
      for (const oldest of cache.keys()) if (cache.size > MAX_PLANS) cache.delete(oldest);
      return mounts;
    },
  };
}

const isFile = (path: string): boolean => statOf(path)?.isFile() === true;

/** A link in place of a root would be followed by the launcher. */
function isPresent(root: Path, roots: readonly Path[], identity: string): boolean {
  const real = realPath(root);
  if (real === undefined) return false;
  if (real !== root) {
    const message = "a workspace root has been replaced by a link since the server started; restart it";
    throw new ToolError("PERMISSION_DENIED", message, { by: "sandbox" });
  }
  // Commands can write around a nested root. Once it was removed, they could replace it at any time.
  const isNested = roots.some((other) => other !== root && isWithin(other, root));
  return !isNested || identityOf(root) === identity;
}
