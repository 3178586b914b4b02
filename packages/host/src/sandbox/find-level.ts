import { findTrusted } from "../programs/trusted-program.ts";
import { createBubblewrapLevel } from "./bubblewrap-level.ts";
import type { Mount } from "./mount.ts";
import { createPlans, type Plans } from "./plans.ts";
import { adviceFor, tryLevel } from "./probe.ts";
import type { Level, Trial } from "./sandbox.ts";
import { createSandboxExecLevel } from "./sandbox-exec-level.ts";
import { hasSeccomp } from "./seccomp.ts";
import { SANDBOX_LEVELS, type SandboxLevel } from "./settings.ts";
import { createUnshareLevel } from "./unshare-level.ts";

export interface FoundLevel {
  readonly tried: readonly Trial[];
  /** The strongest that works; nothing when none does, and commands run with all rights. */
  readonly working?: { readonly level: Level; readonly plans: Plans };
  readonly advice: string;
}

type Options = Omit<Parameters<typeof createPlans>[0], "isRoot"> & {
  readonly protectedMounts: readonly Mount[];
};

/** Probes the levels of this machine, strongest first, until one works. */
export async function findLevel(
  { protectedMounts, ...options }: Options,
  levels: readonly SandboxLevel[] = SANDBOX_LEVELS,
): Promise<FoundLevel> {
  const tried: Trial[] = [];
  for (const candidate of listCandidates(options)) {
    if (!levels.includes(levelOf(candidate))) continue;
    if ("missing" in candidate) {
      tried.push({ level: candidate.level, works: false, why: candidate.missing });
      continue;
    }
    const { level, isRoot } = candidate;
    const plans = createPlans({ ...options, isRoot });
    const mounts = plans.get({ changesProtected: false, protectedMounts, extra: [] });
    const trial = await tryLevel(level, { mounts, ownNetwork: false }, options.scratch);
    tried.push(trial);
    if (trial.works) return { tried, working: { level, plans }, advice: "" };
  }
  return { tried, advice: adviceFor(findTrusted("bwrap", options.roots) !== undefined) };
}

type Candidate =
  | { readonly level: Level; readonly isRoot: boolean }
  | { readonly level: SandboxLevel; readonly missing: string };

const levelOf = ({ level }: Candidate): SandboxLevel => (typeof level === "string" ? level : level.level);

function listCandidates({ roots, scratch }: Pick<Options, "roots" | "scratch">): Candidate[] {
  if (process.platform === "darwin") return [{ level: createSandboxExecLevel(), isRoot: false }];
  const { arch } = process;
  const amRoot = process.getuid?.() === 0;
  // Root in a container may lack the rights to do without a user namespace.
  const ways = amRoot ? [true, false] : [false];
  const bwrap = findTrusted("bwrap", roots);
  const envProgram = findTrusted("env", roots);
  const unshare = findTrusted("unshare", roots);
  const setpriv = findTrusted("setpriv", roots);
  return [
    ...(bwrap === undefined
      ? [{ level: "bubblewrap", missing: "bwrap is not installed" } as const]
      : !hasSeccomp(arch)
        ? [{ level: "bubblewrap", missing: `there is no seccomp filter for ${arch}` } as const]
        : ways.map((isRoot) => ({
            level: createBubblewrapLevel({ program: bwrap, envProgram, arch, isRoot, scratch }),
            isRoot,
          }))),
    ...(unshare === undefined || setpriv === undefined
      ? [{ level: "unshare", missing: "unshare or setpriv is not installed" } as const]
      : ways.map((isRoot) => ({ level: createUnshareLevel({ unshare, setpriv, isRoot, scratch }), isRoot }))),
  ];
}
