import type { ComponentType } from "preact";
import type { Me, OctantProcess } from "../../src/api.ts";
import { isHub } from "../data/roster.ts";
import type { IconName } from "../parts/icon.tsx";
import { lazy } from "../parts/lazy.tsx";
import { ApprovalsView } from "../views/approvals/approvals.tsx";
import { NowView } from "../views/now/now.tsx";

export interface ViewEntry {
  readonly id: IconName & string;
  readonly title: string;
  /** Pressed after `g`. */
  readonly key: string;
  readonly component: ComponentType;
  /** The consoles that have it; all when absent. */
  readonly of?: "machine" | "hub";
  /** Shows what belongs to every project, so that a token of one project sees nothing there. */
  readonly isWhole?: true;
}

/** The views in the order of the sidebar. Those of the first screen come with the page, the others when they are opened. */
export const VIEWS: readonly ViewEntry[] = [
  { id: "now", title: "Now", key: "n", component: NowView },
  { id: "approvals", title: "Approvals", key: "a", component: ApprovalsView, isWhole: true },
  {
    id: "live",
    title: "Live",
    key: "l",
    component: lazy(async () => (await import("../views/live/live.tsx")).LiveView),
  },
  {
    id: "jobs",
    title: "Jobs",
    key: "j",
    component: lazy(async () => (await import("../views/jobs/jobs.tsx")).JobsView),
  },
  {
    id: "sessions",
    of: "machine",
    title: "Sessions",
    key: "s",
    component: lazy(async () => (await import("../views/sessions/sessions.tsx")).SessionsView),
  },
  {
    id: "search",
    of: "machine",
    title: "Search",
    key: "q",
    component: lazy(async () => (await import("../views/search/search.tsx")).SearchView),
  },
  {
    id: "files",
    of: "machine",
    title: "Files",
    key: "f",
    component: lazy(async () => (await import("../views/files/files.tsx")).FilesView),
  },
  {
    id: "audit",
    isWhole: true,
    title: "Audit and policy",
    key: "p",
    component: lazy(async () => (await import("../views/audit/audit.tsx")).AuditView),
  },
  {
    id: "hub",
    of: "hub",
    title: "Hub",
    key: "u",
    component: lazy(async () => (await import("../views/hub/hub.tsx")).HubView),
  },
  {
    id: "health",
    isWhole: true,
    title: "Health",
    key: "h",
    component: lazy(async () => (await import("../views/health/health.tsx")).HealthView),
  },
];

/**
 * The views that this caller can use here; all while the caller is unknown, so that an address finds its view. A hub in
 * another process has a console of its own, and its view here leads there.
 */
export function viewsFor(me: Me | undefined, processes: readonly OctantProcess[] = []): readonly ViewEntry[] {
  if (!me) return VIEWS;
  const place = me.hub ? "hub" : "machine";
  const isWhole = me.project === null;
  const hasHub = processes.some(isHub);
  return VIEWS.filter(
    (view) => ((view.of ?? place) === place || (view.of === "hub" && hasHub)) && (isWhole || !view.isWhole),
  );
}

/** On a phone these have a tab; the others are below More. */
export const TABS = ["now", "approvals", "live", "sessions", "hub"];
