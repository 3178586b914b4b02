import type { SandboxSettings } from "@octant/host";
import type { PermissionRule } from "../permissions/rule.ts";
import type { Dictionary, Settings } from "./schema.ts";

/** The effective settings: merged, with defaults applied. */
export interface Config {
  readonly settings: EffectiveSettings;
  /** The user's tier first. Untrusted tiers contain no allow rules. */
  readonly permissions: readonly TierRules[];
  /** By the name of the value: `sandbox.mode`, `mcp_servers.docs`, `hooks.0`. Missing entries are defaults. */
  readonly origins: ReadonlyMap<string, Origin>;
  readonly warnings: readonly string[];
  readonly waiting: readonly WaitingForTrust[];
}

export interface TierRules {
  readonly tier: TierName;
  readonly rules: readonly PermissionRule[];
}

/** Unlike Required, it says the same to a program that compiles with exactOptionalPropertyTypes. */
type Given<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> };
/** The settings `T` with a value for every key; those of `N` are null until a tier sets them. */
type Filled<T, N extends keyof T = never> = Given<Omit<T, N>> & {
  readonly [K in N]-?: NonNullable<T[K]> | null;
};

type Unset =
  | "status_line"
  | "api_key"
  | "oauth_credentials"
  | "base_url"
  | "thinking"
  | "max_tokens"
  | "stall_seconds";
type Group =
  | "sandbox"
  | "mcp_servers"
  | "audit"
  | "net"
  | "vcs"
  | "search"
  | "ui"
  | "memory"
  | "notifications";
type Groups = Given<Pick<Settings, Group>>;

/** `tools` null: those that are offered by default. `checkpoints` null: on in the agent, off in a server. */
export type EffectiveSettings = Filled<
  Omit<Settings, "$schema" | "permissions" | Group>,
  Unset | "tools" | "checkpoints" | "mode"
> & {
  readonly sandbox: SandboxSettings;
  readonly mcp_servers: Dictionary<McpServer>;
  readonly audit: Filled<Groups["audit"]>;
  readonly net: Filled<Groups["net"]>;
  readonly vcs: Filled<Groups["vcs"]>;
  /** Without an embedder: the word table that comes with the search package. */
  readonly search: Filled<Groups["search"], "embedder">;
  /** Without a browser: the first that is found. */
  readonly ui: Filled<Groups["ui"], "browser">;
  readonly memory: Filled<Groups["memory"]>;
  readonly notifications: Filled<Groups["notifications"]>;
};

export type McpServer =
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Dictionary<string>;
      readonly disabled: boolean;
    }
  | { readonly url: string; readonly headers: Dictionary<string>; readonly disabled: boolean };

/** The untrusted programs and allow rules of one project file. */
export interface WaitingForTrust {
  readonly tier: ProjectTierName;
  /** The real path of the project's folder. */
  readonly folder: string;
  readonly file: string;
  /** Of exactly the content that `parts` shows. */
  readonly hash: string;
  readonly parts: readonly WaitingPart[];
}

export interface WaitingPart {
  /** Such as `hooks.0` or `mcp_servers.docs`. */
  readonly key: string;
  readonly line: number;
  /** All of it, on one line, with nothing in it that a terminal would obey or hide. */
  readonly shown: string;
}

/** Later ones override earlier ones, but narrow only where safety is concerned. */
export const TIERS = ["user", "project", "local", "environment"] as const;
/** Files of other agents in a project that take effect after trust: `.mcp.json` and `.claude/settings.json`. */
export const FOREIGN_TIERS = ["mcp", "claude"] as const;
export type TierName = (typeof TIERS)[number] | (typeof FOREIGN_TIERS)[number];

/** Where an effective value comes from; lines count from 1. */
export interface Origin {
  readonly tier: TierName | "default";
  readonly file: string | null;
  readonly line: number | null;
}

/** The tiers that come with a project, and so possibly from a stranger. */
export type ProjectTierName = Exclude<TierName, "user" | "environment">;

export const isProjectTier = (tier: TierName): tier is ProjectTierName =>
  tier !== "user" && tier !== "environment";
