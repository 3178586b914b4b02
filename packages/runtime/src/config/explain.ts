import { toExact } from "@octant/core";
import { describeRule } from "../permissions/rule.ts";
import type { Config, EffectiveSettings, Origin } from "./config.ts";
import { fieldsOf } from "./dictionary.ts";

/** One effective value and where it comes from. */
export interface ConfigRow {
  readonly key: string;
  /** For people: on one line, without secrets. */
  readonly value: string;
  readonly origin: Origin;
}

/** All effective values, or those under a key such as `permissions` or `sandbox.mode`. */
export function explainConfig(config: Config, key?: string): ConfigRow[] {
  return [...settingRows(config), ...permissionRows(config)].filter(
    (row) => key === undefined || row.key === key || row.key.startsWith(`${key}.`),
  );
}

function settingRows({ settings, origins }: Config): ConfigRow[] {
  return Object.entries(settings).flatMap(([key, value]) => {
    const parts = WHOLE.includes(key) ? [] : Object.entries(fieldsOf(value));
    if (parts.length === 0) return [rowOf(key, toShown(key, value), origins)];
    return parts.map(([name, part]) => rowOf(`${key}.${name}`, toShown(key, part, name), origins));
  });
}

/** The parts of the other lists and maps have origins of their own. */
const WHOLE: readonly string[] = ["oauth_credentials", "tools"] satisfies (keyof EffectiveSettings)[];

function permissionRows({ permissions, origins }: Config): ConfigRow[] {
  const counts = new Map<string, number>();
  return permissions.flatMap(({ tier, rules }) =>
    rules.map((rule) => {
      const at = counts.get(tier) ?? 0;
      counts.set(tier, at + 1);
      const reason = rule.reason ? ` (${rule.reason})` : "";
      return rowOf(`permissions.${tier}.${at}`, toExact(describeRule(rule) + reason), origins);
    }),
  );
}

const rowOf = (key: string, value: string, origins: Config["origins"]): ConfigRow => ({
  key,
  value,
  origin: origins.get(key) ?? { tier: "default", file: null, line: null },
});

/** Variables, headers and queries often hold secrets: their names are shown, their values are not. */
function toShown(key: string, value: unknown, name = ""): string {
  if (isEmpty(value)) return "";
  if (SECRET.includes(key) || SECRET.includes(`${key}.${name}`)) return "(hidden)";
  if (typeof value === "string") return toExact(value);
  const shown = JSON.stringify(value, (field, inner: unknown) => {
    if (field === "env" || field === "headers" || field === "settings") return Object.keys(fieldsOf(inner));
    return field === "url" ? String(inner).replace(/\?.*/s, "?…") : inner;
  });
  return toExact(shown);
}

const SECRET: readonly string[] = ["api_key", "oauth_credentials", "env", "net_search.key"] satisfies (
  | keyof EffectiveSettings
  | "net_search.key"
)[];

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === "object" && Object.keys(value).length === 0);
