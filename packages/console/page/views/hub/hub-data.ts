/** The parts of the hub's answers that the page reads; `docs/tools.md` describes them. */

export const HUB = "hub";

export interface Limits {
  readonly [name: string]: unknown;
}

export interface Project {
  readonly project_id: string;
  readonly name: string;
  readonly description?: string;
  readonly source_url?: string;
  readonly folder?: string;
  readonly branch?: string;
  readonly model?: string;
  readonly image?: string;
  readonly limits: Limits;
  readonly created_at: string;
}

export interface HubSession {
  readonly session_id: string;
  readonly workspace_id: string;
  readonly state: "working" | "idle" | "ended";
  readonly outcome?: string;
  readonly problem?: string;
  readonly model?: string;
  readonly depth: number;
  readonly cost: number;
  readonly queued: number;
  readonly updated_at: string;
}

export interface Workspace {
  readonly workspace_id: string;
  readonly name: string;
  readonly branch: string;
  readonly base: string;
  readonly created_at: string;
  readonly last_session_at?: string;
}

export interface Schedule {
  readonly schedule_id: string;
  readonly name: string;
  readonly cron: string;
  readonly time_zone: string;
  readonly message: string;
  readonly enabled: boolean;
  readonly overlap: string;
  readonly missed: string;
  readonly next_at?: string;
}

export interface PlannedRun {
  readonly schedule_id: string;
  readonly due_at: string;
}

export interface Token {
  readonly token_id: string;
  readonly name?: string;
  readonly scope: string;
  readonly created_at: string;
  readonly expires_at?: string;
  readonly last_used_at?: string;
}

export interface Container {
  readonly project_id: string;
  readonly state: string;
  readonly engine: string;
  readonly cpu_percent?: number;
  readonly memory_bytes?: number;
  readonly pids?: number;
  readonly not_counted?: string;
  readonly disk_bytes: number;
  readonly limits: {
    readonly cpus?: number;
    readonly memory_mb?: number;
    readonly pids?: number;
    readonly disk_mb?: number;
  };
}

export interface HubOptions {
  readonly engine: {
    readonly name: string;
    readonly available: boolean;
    readonly detail: string;
    readonly enforces: readonly string[];
  };
  readonly hosts: readonly { readonly name: string; readonly workspaces: number }[];
  readonly default_limits: Limits;
}
