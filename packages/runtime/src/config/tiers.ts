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
