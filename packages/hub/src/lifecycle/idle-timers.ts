import { type Clock, ToolError } from "@octant/core";
import type { Containers } from "../containers/containers.ts";
import type { Project } from "../projects/project.ts";
import type { CleanUp } from "../sessions/clean-up.ts";
import type { HubSession } from "../sessions/hub-session.ts";
import type { HubStore } from "../store/hub-store.ts";

export interface IdleTimersOptions {
  readonly store: HubStore;
  readonly containers: Pick<Containers, "find" | "stop" | "remove">;
  readonly cleanUp: CleanUp;
  readonly clock: Clock;
  /** The timers of other projects are another hub's. */
  owns(project_id: string): boolean;
  log(line: string): void;
}

/** When a project was used last, as far as this hub knows. */
interface Use {
  /** Commands that run in its container. */
  running: number;
  lastMs: number;
}

export type IdleTimers = ReturnType<typeof createIdleTimers>;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Stops containers that nobody uses, removes those that stay stopped, and deletes sessions that nobody reads. */
export function createIdleTimers(options: IdleTimersOptions) {
  const { store, containers, cleanUp, clock, owns, log } = options;
  const uses = new Map<string, Use>();
  const closing = new AbortController();
  const useOf = (project_id: string): Use => {
    const known = uses.get(project_id) ?? { running: 0, lastMs: clock.now() };
    uses.set(project_id, known);
    return known;
  };

  const look = async (project: Project): Promise<void> => {
    const { id, limits } = project;
    const { running, lastMs } = useOf(id);
    const sessions = await store.records<HubSession>("session").list({ project_id: id });
    if (running > 0 || sessions.some(({ state }) => state === "working")) return;
    const used = Math.max(lastMs, ...sessions.map(({ updated_at }) => Date.parse(updated_at)));
    const idleMs = clock.now() - used;
    const found = await containers.find(id);
    if (found?.state === "running" && idleMs >= limits.idle_stop_minutes * MINUTE_MS)
      await containers.stop(id);
    // The workspaces stay; the next session creates it again.
    else if (found && found.state !== "running" && idleMs >= limits.archive_days * DAY_MS)
      await containers.remove(id);
    if (limits.delete_days === undefined) return;
    const before = clock.now() - limits.delete_days * DAY_MS;
    if (!sessions.some(({ updated_at }) => Date.parse(updated_at) <= before)) return;
    const { kept_workspaces } = await cleanUp(project, { before, idle: true, force: false });
    // Inspecting a workspace starts its container, which does not count as use by a person.
    useOf(id).lastMs = lastMs;
    for (const { workspace_id, reason } of kept_workspaces)
      log(`hub: old workspace ${workspace_id} was not deleted: ${reason}`);
  };
  const tick = async (): Promise<void> => {
    for (const project of (await store.records<Project>("project").list()).filter(({ id }) => owns(id)))
      await look(project).catch((cause: unknown) => {
        const why = cause instanceof ToolError ? cause.message : String(cause);
        log(`hub: the timers of project ${project.name} failed: ${why}`);
      });
  };
  const loop = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await clock.sleep(MINUTE_MS, closing.signal);
      if (!closing.signal.aborted)
        await tick().catch((cause: unknown) => log(`hub: the timers failed: ${cause}`));
    }
  };
  const looping = loop();

  return {
    /** A command in the container of the project began; call the result when it has ended. */
    use(project_id: string): () => void {
      const use = useOf(project_id);
      use.running += 1;
      use.lastMs = clock.now();
      return () => {
        use.running -= 1;
        use.lastMs = clock.now();
      };
    },
    async close(): Promise<void> {
      closing.abort();
      await looping;
    },
  };
}
