import type { LifecycleEvent, LifecycleTopic } from "../lifecycle/lifecycle-events.ts";
import { LIFECYCLE_TYPES } from "../lifecycle/lifecycle-events.ts";
import type { Project } from "../projects/project.ts";
import { type HubSession, SESSION_STATES, toPrice } from "../sessions/hub-session.ts";
import type { HubStore } from "../store/hub-store.ts";

export type Metrics = ReturnType<typeof createMetrics>;

/** Counts what happens in the hub, for Prometheus. No label has a text of a person or a model. */
export function createMetrics(store: HubStore, lifecycle: LifecycleTopic, workingCount: () => number) {
  const counts = new Map<LifecycleEvent["type"], number>(LIFECYCLE_TYPES.map((type) => [type, 0]));
  const stop = lifecycle.listen(({ value: { type } }) => counts.set(type, (counts.get(type) ?? 0) + 1));
  return {
    /** The text format of Prometheus. */
    async text(): Promise<string> {
      const sessions = await store.records<HubSession>("session").list();
      const projects = await store.records<Project>("project").list();
      const memory = process.memoryUsage();
      return [
        ...metric("octant_hub_projects", "gauge", "Projects.", [["", projects.length]]),
        ...metric(
          "octant_hub_sessions",
          "gauge",
          "Sessions by state.",
          SESSION_STATES.map((name) => [
            `{state="${name}"}`,
            sessions.filter(({ state }) => state === name).length,
          ]),
        ),
        ...metric("octant_hub_sessions_running", "gauge", "Sessions at work in this process.", [
          ["", workingCount()],
        ]),
        ...metric("octant_hub_cost_dollars", "gauge", "Cost of all stored sessions in US dollars.", [
          ["", toPrice(sessions.reduce((sum, { cost }) => sum + cost, 0))],
        ]),
        ...metric(
          "octant_hub_events_total",
          "counter",
          "Lifecycle events since the start, by type.",
          [...counts].map(([type, count]) => [`{type="${type}"}`, count]),
        ),
        ...metric("process_resident_memory_bytes", "gauge", "Resident memory.", [["", memory.rss]]),
        ...metric("process_cpu_seconds_total", "counter", "CPU time.", [
          ["", (process.cpuUsage().user + process.cpuUsage().system) / 1_000_000],
        ]),
        "",
      ].join("\n");
    },
    [Symbol.dispose]: stop,
  };
}

const metric = (
  name: string,
  type: "gauge" | "counter",
  help: string,
  values: readonly (readonly [labels: string, value: number])[],
): readonly string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  ...values.map(([labels, value]) => `${name}${labels} ${value}`),
];
