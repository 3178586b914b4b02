import { ToolError } from "@octant/core";
import type { Project } from "../projects/project.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import type { HubSessions } from "./hub-sessions.ts";

export interface CleanUpOptions {
  /** Sessions that were used after this time stay, in milliseconds. */
  readonly before: number;
  /** Also those that are idle. */
  readonly idle: boolean;
  /** Also commits that exist nowhere else. */
  readonly force: boolean;
}

export interface CleanedUp {
  readonly deleted: readonly string[];
  readonly deleted_workspaces: readonly string[];
  readonly kept_workspaces: readonly { readonly workspace_id: string; readonly reason: string }[];
}

export type CleanUp = ReturnType<typeof createCleanUp>;

/** Deletes old sessions of a project, and the workspaces that only they used. */
export const createCleanUp =
  (sessions: Pick<HubSessions, "list" | "remove">, workspaces: Pick<Workspaces, "list" | "remove">) =>
  async (project: Project, { before, idle, force }: CleanUpOptions): Promise<CleanedUp> => {
    const all = await sessions.list(project.id);
    const old = all.filter(
      ({ state, updated_at }) =>
        (state === "ended" || (idle && state === "idle")) && Date.parse(updated_at) <= before,
    );
    const stays = new Set(all.filter((one) => !old.includes(one)).map(({ workspace_id }) => workspace_id));
    const left = new Set(old.map(({ workspace_id }) => workspace_id).filter((id) => !stays.has(id)));
    const deleted_workspaces: string[] = [];
    const kept_workspaces: { workspace_id: string; reason: string }[] = [];
    for (const workspace of await workspaces.list(project.id)) {
      if (!left.has(workspace.id)) continue;
      try {
        await workspaces.remove(project, workspace, { force });
        deleted_workspaces.push(workspace.id);
      } catch (cause) {
        if (!(cause instanceof ToolError)) throw cause;
        kept_workspaces.push({ workspace_id: workspace.id, reason: cause.message });
      }
    }
    // A session stays with the work that it did.
    const kept = new Set(kept_workspaces.map(({ workspace_id }) => workspace_id));
    const gone = old.filter(({ workspace_id }) => !kept.has(workspace_id));
    for (const { id } of gone) await sessions.remove(id);
    return { deleted: gone.map(({ id }) => id), deleted_workspaces, kept_workspaces };
  };
