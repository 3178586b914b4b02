import { ToolError } from "@octant/core";
import type { ContainerLimits, ContainerNetwork, EngineStatus } from "./engine.ts";

/** Throws UNSUPPORTED for a limit that the engine does not enforce. */
export function checkLimits(
  { enforces, name }: Pick<EngineStatus, "enforces" | "name">,
  limits: ContainerLimits & { readonly network: ContainerNetwork },
): void {
  const asked = [
    ...(["cpus", "memory_mb", "pids", "disk_mb"] as const).filter((limit) => limits[limit] !== undefined),
    `network:${limits.network}` as const,
  ];
  const missing = asked.find((one) => !enforces.includes(one));
  if (missing === undefined) return;
  throw new ToolError("UNSUPPORTED", `the engine ${name} does not enforce ${missing}`, {
    what: `${missing} on the engine ${name}`,
    how: "leave it out, or start the hub or the host with another engine (--engine)",
  });
}
