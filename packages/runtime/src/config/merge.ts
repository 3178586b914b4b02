import { narrowestMode, toExact } from "@octant/core";
import { type PermissionRule, toRules } from "../permissions/rule.ts";
import {
  type Config,
  type EffectiveSettings,
  isProjectTier,
  type McpServer,
  type Origin,
  type TierName,
  type TierRules,
} from "./config.ts";
import { DEFAULT_TOOLS, defaultSettings } from "./defaults.ts";
import { emptyDictionary } from "./dictionary.ts";
import { KEYS } from "./keys.ts";
import { type KnownServer, mergeServer } from "./merge-servers.ts";
import { narrowSandbox, withRealPaths } from "./narrow-sandbox.ts";
import { folderOfPack } from "./project-packs.ts";
import type { PackSettings, Settings } from "./schema.ts";

/** One settings file, or the environment, as it was read. */
export interface LoadedTier {
  readonly tier: TierName;
  readonly file: string | null;
  readonly settings: Settings;
  /** Whether its programs and allow rules take effect. */
  readonly trusted: boolean;
  /** The file as messages name it. */
  readonly shown: string;
  /** The folder that relative paths start from. */
  readonly root: string;
  lineOf(...path: readonly PropertyKey[]): number | null;
}

/** Merges all tiers: preferences are overridden; safety settings can only be narrowed below the user tier. */
export function mergeTiers(tiers: readonly LoadedTier[], roots: readonly string[]): Omit<Config, "waiting"> {
  const merging: Merging = {
    settings: defaultSettings(),
    permissions: [],
    origins: new Map(),
    warnings: [],
    servers: new Map(),
    roots,
  };
  for (const tier of tiers) {
    // The schema lets no other keys through.
    for (const key of Object.keys(tier.settings) as (keyof Settings)[]) mergeKey(key, siteOf(tier, merging));
  }
  const { settings, permissions, origins, warnings } = merging;
  return { settings, permissions, origins, warnings };
}

interface Merging {
  readonly settings: { -readonly [K in keyof EffectiveSettings]: EffectiveSettings[K] };
  readonly permissions: TierRules[];
  readonly origins: Map<string, Origin>;
  readonly warnings: string[];
  readonly servers: Map<string, KnownServer>;
  readonly roots: readonly string[];
}

/** One tier being merged into the result of the earlier ones. */
interface Site extends Merging {
  readonly tier: LoadedTier;
  /** Whether the tier comes with the project, and so may only narrow. */
  readonly isProject: boolean;
  /** Records the origin of a value; `path` is its location if different from the name. */
  note(name: string, ...path: readonly PropertyKey[]): void;
  warn(name: string, message: string, ...path: readonly PropertyKey[]): void;
}

function siteOf(tier: LoadedTier, merging: Merging): Site {
  const lineOf = (name: string, path: readonly PropertyKey[]) =>
    tier.lineOf(...(path.length > 0 ? path : name.split(".")));
  return {
    ...merging,
    tier,
    isProject: isProjectTier(tier.tier),
    note(name, ...path) {
      merging.origins.set(name, { tier: tier.tier, file: tier.file, line: lineOf(name, path) });
    },
    warn(name, message, ...path) {
      const line = lineOf(name, path);
      const place = line === null ? tier.shown : `${tier.shown}:${line}`;
      merging.warnings.push(toExact(`${place}: ${name} ${message}`));
    },
  };
}

type Merger<K extends keyof Settings> = (value: NonNullable<Settings[K]>, site: Site) => void;

function mergeKey<K extends keyof Settings>(key: K, site: Site): void {
  const value = site.tier.settings[key];
  if (value === undefined) return;
  const { below } = KEYS[key];
  const merge: Merger<K> | undefined = MERGERS[key];
  if (site.isProject && below === "ignored, with a warning")
    site.warn(key, "is ignored: only the user tier may set it");
  else if (merge) merge(value, site);
  // Programs wait until they are trusted.
  else if (site.tier.trusted || below !== "needs trust") override(key, value, site);
}

/** Adds the named parts to those of earlier tiers; one with the same name is replaced. Other values are replaced. */
function override(key: string, value: unknown, { settings, note }: Site): void {
  const isMap = typeof value === "object" && !Array.isArray(value) && key !== "oauth_credentials";
  const before: unknown = Reflect.get(settings, key);
  Object.assign(settings, { [key]: isMap ? Object.assign(emptyDictionary(), before, value) : value });
  if (isMap) for (const name of Object.keys(value ?? {})) note(`${key}.${name}`, key, name);
  else note(key);
}

/** The keys that a later tier must not simply override. */
type Narrowed = {
  [K in keyof typeof KEYS]: (typeof KEYS)[K]["below"] extends "narrows only" | "adds to the user's"
    ? K
    : never;
}[keyof typeof KEYS];

type Mergers = { readonly [K in keyof Settings]?: Merger<K> };

const MERGERS: Mergers = {
  $schema: () => {},
  custom_instructions(value, { tier, settings, note }) {
    if (!tier.trusted) return;
    settings.custom_instructions = [settings.custom_instructions, value].filter(Boolean).join("\n\n");
    note("custom_instructions");
  },
  permissions(value, { tier, permissions, note }) {
    const isList = Array.isArray(value);
    const counts = ({ mode }: PermissionRule) => tier.trusted || mode !== "allow";
    const rules = toRules(value)
      .map((rule, at) => ({ rule, step: isList ? at : rule.tool_pattern }))
      .filter(({ rule }) => counts(rule));
    const earlier = permissions.filter((one) => one.tier === tier.tier).flatMap((one) => one.rules).length;
    for (const [at, { step }] of rules.entries())
      note(`permissions.${tier.tier}.${earlier + at}`, "permissions", step);
    if (rules.length > 0) permissions.push({ tier: tier.tier, rules: rules.map(({ rule }) => rule) });
  },
  hooks(hooks, { settings, tier, note }) {
    if (!tier.trusted) return;
    for (const at of hooks.keys()) note(`hooks.${settings.hooks.length + at}`, "hooks", at);
    settings.hooks = [...settings.hooks, ...hooks];
  },
  mcp_servers(given, { settings, servers, tier, note, warn }) {
    const changed = emptyDictionary<McpServer>();
    for (const [name, server] of Object.entries(given)) {
      const key = `mcp_servers.${name}`;
      const before = servers.get(name);
      const { known, warning } = mergeServer(server, before, tier);
      if (warning) warn(key, warning, "mcp_servers", name);
      if (!known || known === before) continue;
      servers.set(name, known);
      changed[name] = known.server;
      note(key, "mcp_servers", name);
    }
    settings.mcp_servers = Object.assign(emptyDictionary(), settings.mcp_servers, changed);
  },
  packs(given, { settings, tier, isProject, note, warn }) {
    if (!tier.trusted) return;
    const packs = emptyDictionary<PackSettings>();
    for (const [name, pack] of Object.entries(given)) {
      const from = isProject ? folderOfPack(tier.root, pack) : pack.from;
      if (from === undefined) warn(`packs.${name}`, "is ignored: from has to be a folder of the project");
      else packs[name] = { ...pack, from };
      if (from !== undefined) note(`packs.${name}`, "packs", name);
    }
    settings.packs = Object.assign(emptyDictionary(), settings.packs, packs);
  },
  sandbox(given, { settings, tier, isProject, roots, note, warn }) {
    const before = settings.sandbox;
    const wanted = withRealPaths(given, { root: tier.root, roots });
    if ((wanted.allowed_paths?.length ?? 0) < (given.allowed_paths?.length ?? 0))
      warn(
        "sandbox.allowed_paths",
        "names a link that leads out of the workspace, or nowhere; it is ignored",
      );
    const after = isProject ? narrowSandbox(wanted, before, roots) : { ...before, ...wanted };
    settings.sandbox = after;
    // The fields of both are the same.
    for (const field of Object.keys(wanted) as (keyof typeof wanted)[]) {
      if (!isSame(after[field], wanted[field]))
        warn(`sandbox.${field}`, "only narrows here; the wider part is ignored");
      if (!isProject || !isSame(after[field], before[field])) note(`sandbox.${field}`);
    }
  },
  net(given, { settings, isProject, note, warn }) {
    const { allow = [], deny = [] } = given;
    if (isProject && allow.length > 0) warn("net.allow", "is ignored: only the user tier may set it");
    if (isProject && given.private && !settings.net.private)
      warn("net.private", "only narrows here; it stays false");
    const counted = isProject ? [] : allow;
    const isPrivate = given.private ?? settings.net.private;
    const before = settings.net;
    settings.net = {
      allow: [...new Set([...before.allow, ...counted])],
      deny: [...new Set([...before.deny, ...deny])],
      private: isProject ? before.private && isPrivate : isPrivate,
    };
    for (const field of ["allow", "deny", "private"] as const)
      if (!isSame(before[field], settings.net[field])) note(`net.${field}`);
  },
  tools(wanted, { settings, isProject, note, warn }) {
    const offered: readonly string[] = settings.tools ?? DEFAULT_TOOLS;
    const counted = isProject ? wanted.filter((name) => offered.includes(name)) : wanted;
    if (counted.length < wanted.length) warn("tools", "only narrows here; the further ones are ignored");
    settings.tools = counted;
    note("tools");
  },
  mode(wanted, { settings, tier, isProject, note, warn }) {
    // Without a mode everything is allowed and asked about; a project may not take the questions away.
    const before = settings.mode ?? (isProject ? "ask" : undefined);
    const mode = tier.tier === "user" ? wanted : (narrowestMode(wanted, before) ?? wanted);
    if (mode !== wanted) warn("mode", `only narrows here; it is ${mode} now`);
    if (mode !== settings.mode) note("mode");
    settings.mode = mode;
  },
} satisfies Required<Pick<Mergers, Narrowed>> & Mergers;

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
