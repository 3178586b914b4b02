import { statSync } from "node:fs";
import { isWithin, type Path, splitPath, toNative } from "@octant/host";
import { toShape } from "./command-shape.ts";
import { isRisky } from "./commands.ts";
import { type Facts, nothing, type PolicyCall } from "./facts.ts";
import { escapeGlob } from "./glob.ts";
import type { Host } from "./hosts.ts";
import type { Places } from "./path-glob.ts";
import type { ResolvedPath } from "./real-path.ts";
import { PermissionRule } from "./rule.ts";

/** With more paths, a rule would be broader than the question. */
const MAX_PATHS = 5;

/**
 * This action, in these folders, with commands of this shape, for this host. undefined when the call's
 * subject is unclear. The caller must verify that the rule allows the call.
 */
export function toNarrowRule(
  { name, action }: PolicyCall,
  facts: Facts,
  places: Places,
): PermissionRule | undefined {
  const found = { path: facts.paths(), command: facts.commands(), host: facts.hosts() };
  if (action && Object.values(found).some(({ besides }) => besides !== "nothing")) return undefined;
  // Text that a command reads is as much a part of what it does as its words.
  if (found.command.values.some(isRisky) || facts.inputs() !== nothing) return undefined;
  const path = [...new Set(found.path.values.map((one) => toGlob(one, places.roots)))];
  if (path.length > MAX_PATHS) return undefined;
  const command = found.command.values.map((one) => toShape(one, facts, places));
  const args = {
    ...(path.length > 0 && { path }),
    ...(command.length > 0 && { command }),
    ...(found.host.values.length > 0 && { host: found.host.values.map(toPattern) }),
  };
  const hasArguments = action !== undefined && Object.keys(args).length > 0;
  const rule = PermissionRule.safeParse({
    tool_pattern: name,
    mode: "allow",
    ...(hasArguments && { args }),
  });
  return rule.success ? rule.data : undefined;
}

/** A glob for the files of one folder, or for a folder itself with its contents. A top-level file is named alone. */
function toGlob({ real, isTree }: ResolvedPath, roots: readonly Path[]): string {
  const root = roots.find((one) => isWithin(one, real));
  const inside = root === undefined ? real : real.slice(root === "/" ? 1 : root.length + 1);
  if (isTree) return inside === "" ? "**" : `${escapeGlob(inside)}/**`;
  if (inside === "") return escapeGlob(real);
  const { parent } = splitPath(inside);
  const isAlone = !inside.includes("/") || parent === "/" || isFolder(real);
  return isAlone ? escapeGlob(inside) : `${escapeGlob(parent)}/*`;
}

const isFolder = (path: Path): boolean =>
  statSync(toNative(path), { throwIfNoEntry: false })?.isDirectory() ?? false;

const toPattern = ({ name, port }: Host): string => (port === undefined ? name : `${name}:${port}`);
