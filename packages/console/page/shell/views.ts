import type { ComponentType } from "preact";
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
}

/** The views in the order of the sidebar. Those of the first screen come with the page, the others when they are opened. */
export const VIEWS: readonly ViewEntry[] = [
  { id: "now", title: "Now", key: "n", component: NowView },
  { id: "approvals", title: "Approvals", key: "a", component: ApprovalsView },
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
    title: "Sessions",
    key: "s",
    component: lazy(async () => (await import("../views/sessions/sessions.tsx")).SessionsView),
  },
  {
    id: "search",
    title: "Search",
    key: "q",
    component: lazy(async () => (await import("../views/search/search.tsx")).SearchView),
  },
  {
    id: "files",
    title: "Files",
    key: "f",
    component: lazy(async () => (await import("../views/files/files.tsx")).FilesView),
  },
  {
    id: "audit",
    title: "Audit and policy",
    key: "p",
    component: lazy(async () => (await import("../views/audit/audit.tsx")).AuditView),
  },
  {
    id: "hub",
    title: "Hub",
    key: "u",
    component: lazy(async () => (await import("../views/hub/hub.tsx")).HubView),
  },
  {
    id: "health",
    title: "Health",
    key: "h",
    component: lazy(async () => (await import("../views/health/health.tsx")).HealthView),
  },
];

/** On a phone these have a tab; the others are below More. */
export const TABS = ["now", "approvals", "live", "sessions"];
