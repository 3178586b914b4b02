import { counted, ToolError } from "@octant/core";
import type { Containers } from "../containers/containers.ts";
import type { Hosted } from "../hosts/open-hosted.ts";
import type { LifecycleTopic } from "../lifecycle/lifecycle-events.ts";
import type { Scheduler } from "../schedules/scheduler.ts";
import type { HubSessions } from "../sessions/hub-sessions.ts";
import type { Records } from "../store/hub-store.ts";
import type { HubTokens } from "../tokens/hub-tokens.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import type { Repositories } from "../workspaces/repositories.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import type { Project } from "./project.ts";

export interface PartialProjectsOptions {
  readonly projects: Records<Project>;
  readonly sessions: HubSessions;
  readonly scheduler: Scheduler;
  readonly tokens: HubTokens;
  readonly workspaces: Workspaces;
  readonly containers: Containers;
  readonly repositories: Repositories;
  readonly lifecycle: LifecycleTopic;
  readonly webhooks: Webhooks;
  readonly kept: Hosted["kept"];
}

export type PartialProjects = ReturnType<typeof createPartialProjects>;

/** Projects that are being made or deleted, which a kill can leave as they are. */
export function createPartialProjects(options: PartialProjectsOptions) {
  const { projects, sessions, scheduler, tokens, workspaces, containers, repositories, kept } = options;
  const { lifecycle, webhooks } = options;
  const creating = new Set<string>();
  const setPartial = (id: string, partial: Project["partial"]) =>
    projects.change(id, (project) => ({ ...project, partial }));
  /** Deletes a project with everything of it; without force only when nothing is lost. */
  const dismantle = async (project: Project, { force }: { readonly force: boolean }): Promise<void> => {
    const { id: project_id } = project;
    const active = async () => (await sessions.list(project_id)).filter(({ state }) => state === "working");
    const changes = async () =>
      JSON.stringify((await sessions.list(project_id)).map((one) => one.updated_at));
    // Nothing is ended or deleted before all of it may be.
    if (!force) {
      refuseWorking((await active()).length);
      const before = await changes();
      for (const workspace of await workspaces.list(project_id))
        await workspaces.refuseLoss(project, workspace);
      // From here on nothing begins in it.
      await setPartial(project_id, "closing");
      if ((await changes()) !== before) {
        await setPartial(project_id, undefined);
        throw new ToolError("CONFIRM_REQUIRED", "a session began meanwhile; wait for it, or pass force", {
          would: { end_sessions: (await active()).length },
        });
      }
    }
    // The next start goes on when this hub is killed.
    await setPartial(project_id, "deleted");
    await scheduler.removeOf(project_id);
    await tokens.revokeOf(project_id);
    for (const { id } of await active()) await sessions.end(id);
    for (const workspace of await workspaces.list(project_id))
      await workspaces.remove(project, workspace, { force: true });
    for (const { id } of await sessions.list(project_id)) await sessions.remove(id);
    await containers.remove(project_id);
    await kept?.remove(project_id);
    repositories.remove(project_id);
    lifecycle.publish({ type: "project.deleted", project_id });
    await webhooks.stored();
  };
  /** A kill interrupted its creation or its deletion. */
  const isLeft = ({ id, partial }: Project): boolean =>
    partial === "deleted" || (partial === "new" && !creating.has(id));
  /** Ends what a kill interrupted: half-made and half-deleted projects go. True when this one is gone. */
  const settle = async (id: string): Promise<boolean> => {
    const project = await projects.get(id);
    if (project?.partial === "closing") await setPartial(id, undefined);
    if (!project || !isLeft(project)) return !project;
    if (project.partial === "deleted") await dismantle(project, { force: true });
    else {
      await kept?.remove(id);
      repositories.remove(id);
    }
    return projects.remove(id);
  };
  return {
    isLeft,
    settle,
    dismantle,
    /** This hub makes it now, so nothing interrupted it. */
    begin: (id: string): void => void creating.add(id),
    made: (id: string): void => void creating.delete(id),
  };
}

function refuseWorking(count: number): void {
  if (count === 0) return;
  const message = `${counted(count, "session")} at work in the project; end them first, or pass force`;
  throw new ToolError("CONFIRM_REQUIRED", message, { would: { end_sessions: count } });
}
