import { ToolError } from "@octant/core";

/** One setting as git lists it. */
export interface Setting {
  readonly scope: string;
  /** The file that it comes from; undefined when it comes from elsewhere. */
  readonly file: string | undefined;
  readonly key: string;
  readonly value: string;
}

/** The programs that the user's settings allow a repository to run. */
export interface GitAllowance {
  /** Filters by name, such as lfs; their commands are taken from the person's own git config only. */
  readonly filters: readonly string[];
  readonly hooks: boolean;
}

export type Override = readonly [key: string, value: string];

/**
 * The settings under which git runs: no configured program is started, and nothing depends on the repository's
 * settings. Named items (filters, drivers) can only be disabled by name, so the list is needed. Of `unread`, settings
 * of the repository that name files elsewhere, the person's own value counts, or none.
 */
export function toOverrides(
  settings: readonly Setting[],
  { filters, hooks }: GitAllowance,
  unread: readonly Setting[],
): Override[] {
  const isAllowed = (key: string) =>
    (hooks && key.startsWith("hook.")) || filters.some((name) => key.startsWith(`filter.${name}.`));
  const named = toNamedOverrides(settings.filter(({ key }) => !isAllowed(key)));
  const allowed = filters.flatMap((name) => ownFilter(settings, name));
  const own = (key: string) => settings.findLast((one) => one.scope === "global" && one.key === key)?.value;
  const files = unread.map(({ key }): Override => [key, own(key) ?? "/dev/null"]);
  return [...new Map([...named, ...allowed, ...files, ...FIXED, ...(hooks ? [] : NO_HOOKS)])];
}

/** Disables the settings that start a program under a name; `more` adds rules to those for every git. */
export const toNamedOverrides = (settings: readonly Setting[], more: readonly NamedRule[] = []): Override[] =>
  settings.flatMap(({ key }): Override[] => {
    const rule = [...NAMED, ...more].find(({ pattern }) => pattern.test(key));
    if (!rule) return [];
    checkName(key);
    const cut = key.lastIndexOf(".");
    return rule.keys.map(([name, value]) => [name ? key.slice(0, cut + 1) + name : key, value]);
  });

/** From the person's own config; the repository's config is ignored. */
function ownFilter(settings: readonly Setting[], name: string): Override[] {
  return FILTER_KEYS.flatMap((last): Override[] => {
    const said = settings.filter(({ key }) => key === `filter.${name}.${last}`);
    const own = said.findLast(({ scope }) => scope === "global");
    // Git treats an empty process setting as a process, so an unset one stays unset.
    return said.length === 0 ? [] : [[`filter.${name}.${last}`, own?.value ?? OFF[last]]];
  });
}

const FILTER_KEYS = ["clean", "smudge", "process", "required"] as const;
const OFF = { clean: "", smudge: "", process: "", required: "false" } as const;
const NO_FILTER: readonly Override[] = Object.entries(OFF);

/** Settings and the values set under the same name. "" stands for the key itself. */
export interface NamedRule {
  readonly pattern: RegExp;
  readonly keys: readonly Override[];
}

const NAMED: readonly NamedRule[] = [
  { pattern: /^filter\..*\.[^.]*$/s, keys: NO_FILTER },
  { pattern: /^diff\..+\.(command|textconv)$/s, keys: [["", ""]] },
  { pattern: /^diff\..+\.cachetextconv$/s, keys: [["", "false"]] },
  { pattern: /^merge\..+\.driver$/s, keys: [["", "false"]] },
  { pattern: /^credential\..+\.helper$/s, keys: [["", ""]] },
  { pattern: /^gpg\.(.+\.)?(program|defaultkeycommand)$/s, keys: [["", "false"]] },
  { pattern: /^trailer\..+\.(command|cmd)$/s, keys: [["", ""]] },
  { pattern: /^hook\..+\.[^.]*$/s, keys: [["enabled", "false"]] },
  { pattern: /^protocol\..+\.allow$/s, keys: [["", "never"]] },
  { pattern: /^submodule\..+\.update$/s, keys: [["", "none"]] },
];

const NO_HOOKS: readonly Override[] = [["core.hooksPath", "/dev/null"]];

const FIXED: readonly Override[] = [
  // Settings that would start a program.
  ["core.fsmonitor", "false"],
  ["core.pager", "cat"],
  ["core.editor", ":"],
  ["sequence.editor", ":"],
  ["core.askPass", ""],
  ["core.sshCommand", "false"],
  ["core.alternateRefsCommand", "false"],
  ["credential.helper", ""],
  ["commit.gpgSign", "false"],
  ["tag.gpgSign", "false"],
  ["log.showSignature", "false"],
  ["protocol.allow", "never"],
  ["submodule.recurse", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  // Settings that would read files elsewhere and reveal their content.
  ["mailmap.file", ""],
  ["mailmap.blob", ""],
  // Settings that would write outside the repository.
  ["core.protectHFS", "true"],
  ["core.protectNTFS", "true"],
  // Settings that would change the output format.
  ["color.ui", "false"],
  ["core.quotePath", "true"],
  ["diff.suppressBlankEmpty", "false"],
  ["i18n.commitEncoding", "UTF-8"],
  ["i18n.logOutputEncoding", "UTF-8"],
];

/** A name that the environment cannot carry could not be switched off. */
function checkName(key: string): void {
  if (key.isWellFormed() && !key.includes("\0")) return;
  const message =
    "the repository's config names a filter or driver that is not UTF-8, so it cannot be blocked; rename it";
  throw new ToolError("VCS_ERROR", message, { exit_code: null });
}

/** Overrides as git takes them from its environment; unlike with -c, a name may hold `=`. */
export const encodeOverrides = (overrides: readonly Override[]): Record<string, string> =>
  Object.fromEntries([
    ["GIT_CONFIG_COUNT", String(overrides.length)],
    ...overrides.flatMap(([key, value], n) => [
      [`GIT_CONFIG_KEY_${n}`, key],
      [`GIT_CONFIG_VALUE_${n}`, value],
    ]),
  ]);
