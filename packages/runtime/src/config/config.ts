import type { Mode } from "@octant/core";
import type { SandboxSettings } from "@octant/host";
import type { HookSettings } from "../hooks/hook.ts";
import type { PermissionRule } from "../permissions/rule.ts";
import type {
  AUDIT_ARGUMENTS,
  Dictionary,
  EmbedderSettings,
  FUSIONS,
  INPUT_MODES,
  ModelSettings,
  ModeSettings,
  Settings,
  Thinking,
  VECTOR_STORES,
} from "./schema.ts";

/** One settings file, or the environment, as it was read. */
export interface Tier {
  readonly tier: TierName;
  readonly file: string | null;
  readonly settings: Settings;
  /** Whether its programs and allow rules take effect. */
  readonly trusted: boolean;
}

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

export interface EffectiveSettings {
  readonly model: string;
  readonly api_key: string | null;
  readonly oauth_credentials: Dictionary<unknown> | null;
  readonly base_url: string | null;
  readonly custom_instructions: string;
  readonly thinking: Thinking | null;
  readonly input_mode: (typeof INPUT_MODES)[number];
  readonly plain: boolean;
  readonly models: Dictionary<ModelSettings>;
  readonly max_tokens: number | null;
  readonly hooks: readonly HookSettings[];
  readonly mcp_servers: Dictionary<McpServer>;
  readonly sandbox: SandboxSettings;
  readonly env: Dictionary<string>;
  readonly audit: {
    readonly arguments: (typeof AUDIT_ARGUMENTS)[number];
    /** Beyond this size, the oldest parts of the log are removed. */
    readonly keep_bytes: number;
  };
  readonly net: {
    readonly allow: readonly string[];
    readonly deny: readonly string[];
    readonly private: boolean;
  };
  readonly vcs: { readonly filters: readonly string[]; readonly hooks: boolean };
  readonly language_servers: Dictionary<{ readonly command: readonly [string, ...string[]] }>;
  readonly search: {
    /** Null for the word table that comes with the search package. */
    readonly embedder: EmbedderSettings | null;
    readonly vector_store: (typeof VECTOR_STORES)[number];
    readonly fusion: (typeof FUSIONS)[number];
  };
  readonly ui: {
    /** Null for the first that is found. */
    readonly browser: string | null;
    readonly headless: boolean;
    /** Of all downloads that one browser holds. */
    readonly max_download_bytes: number;
    /** Whether tools may see and drive the person's desktop. */
    readonly screen: boolean;
  };
  /** The only ones to offer; null for those that are offered by default. */
  readonly tools: readonly string[] | null;
  /** Null: on in the agent, off in a server. */
  readonly checkpoints: boolean | null;
  /** Developer modes beside the built-in ones. */
  readonly modes: Dictionary<ModeSettings>;
  readonly memory: { readonly shared: boolean };
  /** Null allows everything. */
  readonly mode: Mode | null;
}

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
export type TierName = (typeof TIERS)[number];

/** Where an effective value comes from; lines count from 1. */
export interface Origin {
  readonly tier: TierName | "default";
  readonly file: string | null;
  readonly line: number | null;
}

/** The tiers that come with a project, and so possibly from a stranger. */
export type ProjectTierName = Extract<TierName, "project" | "local">;

export const isProjectTier = (tier: TierName): tier is ProjectTierName =>
  tier === "project" || tier === "local";
