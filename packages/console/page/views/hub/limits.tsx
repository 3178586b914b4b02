import { Badge } from "../../parts/badge.tsx";
import { Foreign } from "../../text/foreign.tsx";
import type { HubOptions, Limits as LimitValues, Project } from "./hub-data.ts";
import { ResourceTable } from "./resource-table.tsx";
import { Shown } from "./shown.tsx";
import { useHub } from "./use-hub.ts";

/** The names of limits, with the unit of their values. */
const NAMES: Readonly<Record<string, readonly [string, string]>> = {
  cpus: ["Processors of the container", ""],
  memory_mb: ["Memory of the container", " MB"],
  pids: ["Processes of the container", ""],
  disk_mb: ["Disk of workspaces and cache", " MB"],
  network: ["Network of the container", ""],
  allow_hosts: ["Hosts that it may reach", ""],
  wall_minutes: ["Longest run of a session", " minutes"],
  max_sessions: ["Sessions at work at once", ""],
  max_depth: ["Generations of spawned sessions", ""],
  max_agents: ["Sessions of one tree", ""],
  max_cost: ["Cost of one tree", " US dollars"],
  idle_stop_minutes: ["An idle container stops after", " minutes"],
  archive_days: ["A stopped container is removed after", " days"],
  delete_days: ["Unused sessions are deleted after", " days"],
};
/** Limits that an engine has to enforce. */
const OF_THE_ENGINE = new Set(["cpus", "memory_mb", "pids", "disk_mb"]);

/** The limits of a project beside those that a new project gets. */
export function Limits({ project }: { readonly project: Project | undefined }) {
  const loaded = useHub<HubOptions>("project.options");
  return (
    <Shown loaded={loaded}>
      {({ default_limits, engine }) => (
        <ResourceTable
          label="Limits"
          rows={Object.entries(NAMES)}
          keyOf={([key]) => key}
          columns={[
            {
              title: "Limit",
              cell: ([key, [name]]) => (
                <>
                  {name}{" "}
                  {OF_THE_ENGINE.has(key) && !engine.enforces.includes(key) && (
                    <Badge tone="warn">{`not enforced by ${engine.name}`}</Badge>
                  )}
                </>
              ),
            },
            ...(project
              ? [
                  {
                    title: project.name,
                    isNumber: true,
                    cell: ([key, [, unit]]: [string, readonly [string, string]]) => (
                      <Foreign text={textOf(project.limits, key, unit)} />
                    ),
                  },
                ]
              : []),
            {
              title: "New projects",
              isNumber: true,
              cell: ([key, [, unit]]) => (
                <span class="calm">
                  <Foreign text={textOf(default_limits, key, unit)} />
                </span>
              ),
            },
          ]}
        />
      )}
    </Shown>
  );
}

function textOf(limits: LimitValues, key: string, unit: string): string {
  const value = limits[key];
  if (value === undefined || value === null) return "no limit";
  if (Array.isArray(value)) return value.join(", ") || "none";
  return typeof value === "number" ? `${value.toLocaleString("en")}${unit}` : String(value);
}
