import { limitsOf } from "../processes/cgroup.ts";
import type { SandboxSettings } from "./settings.ts";

/**
 * The configured limits that this machine does not enforce, in one sentence for people; undefined when it enforces all.
 */
export function unheldLimits(
  { memory_bytes, max_processes }: SandboxSettings,
  available: () => ReturnType<typeof limitsOf> = limitsOf,
): string | undefined {
  if (memory_bytes === undefined && max_processes === undefined) return undefined;
  const { memory, processes } = available();
  const unheld = [
    ...(memory_bytes !== undefined && memory === null
      ? ["sandbox.memory_bytes holds only for each process"]
      : []),
    ...(max_processes !== undefined && processes === null ? ["sandbox.max_processes does not hold"] : []),
  ];
  if (unheld.length === 0) return undefined;
  return `${unheld.join(" and ")} here: this user cannot create control groups (systemd-run --user --scope -p Delegate=yes starts Octant where it can)`;
}
