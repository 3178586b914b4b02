import { lstatSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { replaceFile } from "@octant/host";
import { findNodeAtLocation, type Node } from "jsonc-parser";
import { type PermissionRule, toRules } from "../permissions/rule.ts";
import { endOf, insertInto, splice } from "./edit-jsonc.ts";
import { parseJsonc } from "./jsonc.ts";
import { parseSettings } from "./parse-settings.ts";
import { type Person, type ProjectFile, projectFile, realPlace, userFolder } from "./places.ts";
import { readSettingsFile } from "./read-file.ts";
import type { Settings } from "./schema.ts";
import { refusedFile } from "./settings-error.ts";
import { changeTrust, isRemembered, remember } from "./trust.ts";
import { trustPartsOf } from "./trust-parts.ts";

export interface AddedRule {
  /** False when the file already has untrusted content: then the rule waits for trust with it. */
  readonly trusted: boolean;
}

/** Writes a rule to the local tier: the answer "always". It applies at once, unless the file has untrusted content. */
export async function addLocalRule(root: string, rule: PermissionRule, person: Person): Promise<AddedRule> {
  const file = projectFile(realPlace(root), "local");
  const { root: folder, tier } = file;
  let trusted = false;
  await changeTrust(userFolder(person), (all) => {
    const found = readSettingsFile(file);
    const text = found?.text ?? EMPTY;
    const before = parseSettings(text, file).settings;
    const asked = trustPartsOf(before, folder, tier);
    trusted = asked.parts.length === 0 || isRemembered(all, { folder, tier, hash: asked.hash });
    const changed = withRule(text, before, rule);
    if (changed === text) return all;
    const after = parseSettings(changed, file).settings;
    makeFolder(file);
    replaceFile(file.path, changed, { mode: found ? found.stat.mode & 0o777 : 0o600 });
    // Bound to the content written here, not to the file's current content.
    const { hash } = trustPartsOf(after, folder, tier);
    return trusted ? remember(all, [{ folder, tier, hash }]) : all;
  });
  return { trusted };
}

/** The folder in which such rules are stored. */
export const localFolder = (root: string): string => dirname(projectFile(realPlace(root), "local").path);

const EMPTY = "{}\n";

function withRule(text: string, { permissions }: Settings, rule: PermissionRule): string {
  const { root } = parseJsonc(text);
  const value = findNodeAtLocation(root, ["permissions"]);
  if (!value || permissions === undefined)
    return insertInto(text, root, root.children?.length ?? 0, `"permissions": [${JSON.stringify(rule)}]`);

  const rules = toRules(permissions);
  const known = rules.findIndex((one) => isSame(one, rule));
  if (known >= 0) return renewed(text, value, known, rules, rule);
  const index = placeOf(rule, rules);
  if (value.type === "array") return insertInto(text, value, index, JSON.stringify(rule));
  const isPlain = Object.keys(rule).length === PLAIN_KEYS && !findNodeAtLocation(value, [rule.tool_pattern]);
  if (isPlain)
    return insertInto(
      text,
      value,
      index,
      `${JSON.stringify(rule.tool_pattern)}: ${JSON.stringify(rule.mode)}`,
    );
  // A map cannot hold it.
  return splice(text, value.offset, endOf(value), JSON.stringify(rules.toSpliced(index, 0, rule), null, 2));
}

/** A rule in a map has its pattern and its mode only. */
const PLAIN_KEYS = 2;

/** The same rule with a new expiry; a rule without one, as all in a map are, stays as it is. */
function renewed(
  text: string,
  value: Node,
  at: number,
  rules: readonly PermissionRule[],
  rule: PermissionRule,
): string {
  const item = value.type === "array" ? value.children?.[at] : undefined;
  if (!item || rules[at]?.expires_at === undefined) return text;
  return splice(text, item.offset, endOf(item), JSON.stringify(rule));
}

/** The first match wins, so an allow rule goes after every deny rule and before the following prompt rules. */
function placeOf({ mode }: PermissionRule, rules: readonly PermissionRule[]): number {
  if (mode !== "allow") return 0;
  const lastDeny = rules.findLastIndex((one) => one.mode === "deny");
  const prompt = rules.findIndex((one, at) => at > lastDeny && one.mode === "prompt");
  return prompt < 0 ? rules.length : prompt;
}

const isSame = (one: PermissionRule, other: PermissionRule): boolean =>
  one.tool_pattern === other.tool_pattern &&
  one.mode === other.mode &&
  JSON.stringify(one.args) === JSON.stringify(other.args);

function makeFolder(file: ProjectFile): void {
  const folder = dirname(file.path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!lstatSync(folder).isDirectory()) throw refusedFile(file, "expected a folder around it, not a link");
  const ignored = join(folder, ".gitignore");
  if (!lstatSync(ignored, { throwIfNoEntry: false }))
    replaceFile(ignored, "settings.local.json\n.gitignore\n", { mode: 0o600 });
}
