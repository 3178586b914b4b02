import { limitsOf } from "../processes/cgroup.ts";
import { findTrusted } from "../programs/trusted-program.ts";
import { createBubblewrapLevel } from "./bubblewrap-level.ts";
import type { Mount } from "./mount.ts";
import { createPlanCache, type PlanCache } from "./plan-cache.ts";
import { adviceFor, tryLevel } from "./probe.ts";
import type { Level, Trial } from "./sandbox.ts";
import { createSandboxExecLevel } from "./sandbox-exec-level.ts";
import { hasSeccomp } from "./seccomp.ts";
import { SANDBOX_LEVELS, type SandboxLevel } from "./settings.ts";
import { createUnshareLevel } from "./unshare-level.ts";

export interface FoundLevel {
  readonly tried: readonly Trial[];
  /** The strongest that works; nothing when none does, and commands run with all rights. */
  readonly working?: { readonly level: Level; readonly plans: PlanCache };
  readonly advice: string;
}

type Options = Omit<Parameters<typeof createPlanCache>[0], "isRoot"> & {
  readonly protectedMounts: readonly Mount[];
};

/** Probes the levels of this machine, strongest first, until one works. */
export async function findLevel(
  { protectedMounts, ...options }: Options,
  levels: readonly SandboxLevel[] = SANDBOX_LEVELS,
): Promise<FoundLevel> {
  const tried: Trial[] = [];
  for (const { level: name, missing, create } of listCandidates(options)) {
    if (!levels.includes(name)) continue;
    if (missing !== undefined) tried.push({ level: name, works: false, why: missing });
    // Root in a container may lack the rights to do without a user namespace.
    for (const isRoot of name !== "sandbox-exec" && process.getuid?.() === 0 ? [true, false] : [false]) {
      const level = create?.(isRoot);
      if (!level) continue;
      const plans = createPlanCache({ ...options, isRoot });
      const mounts = plans.get({ isOurs: false, changesProtected: false, protectedMounts, extra: [] });
      const trial = await tryLevel(level, { mounts, ownNetwork: false }, options.scratch);
      tried.push(trial);
      if (trial.works) return { tried, working: { level, plans }, advice: "" };
    }
  }
  return { tried, advice: adviceFor(findTrusted("bwrap", options.roots) !== undefined) };
}

interface Candidate {
  readonly level: SandboxLevel;
  /** Why the level cannot be created here. */
  readonly missing?: string | undefined;
  create?(isRoot: boolean): Level;
}

function listCandidates({
  roots,
  scratch,
  settings,
}: Pick<Options, "roots" | "scratch" | "settings">): Candidate[] {
  if (process.platform === "darwin") return [{ level: "sandbox-exec", create: createSandboxExecLevel }];
  const { arch } = process;
  // A control group limits the command as a whole, and says why it was ended.
  const perProcess = settings.memory_bytes !== undefined && limitsOf().memory === null ? settings : {};
  const program = findTrusted("bwrap", roots);
  const envProgram = findTrusted("env", roots);
  const unshare = findTrusted("unshare", roots);
  const setpriv = findTrusted("setpriv", roots);
  return [
    program === undefined || !hasSeccomp(arch)
      ? {
          level: "bubblewrap",
          missing: program ? `there is no seccomp filter for ${arch}` : "bwrap is not installed",
        }
      : {
          level: "bubblewrap",
          create: (isRoot) =>
            createBubblewrapLevel({
              program,
              envProgram,
              setpriv,
              arch,
              isRoot,
              scratch,
              settings: perProcess,
            }),
        },
    unshare === undefined || setpriv === undefined
      ? { level: "unshare", missing: "unshare or setpriv is not installed" }
      : {
          level: "unshare",
          create: (isRoot) => createUnshareLevel({ unshare, setpriv, isRoot, scratch, settings: perProcess }),
        },
  ];
}
