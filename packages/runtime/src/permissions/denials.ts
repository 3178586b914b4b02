import { type Denied, type Path, pathToUri } from "@octant/host";
import { findMatching } from "./denied-files.ts";
import type { PolicyCall } from "./facts.ts";
import { type Places, toPatterns } from "./path-glob.ts";
import type { Decision } from "./policy.ts";
import type { PermissionRule } from "./rule.ts";

interface Judging {
  /** The rules that are about the call's action. */
  rulesFor(name: string): readonly { readonly rule: PermissionRule }[];
  evaluate(call: PolicyCall): Decision;
}

/**
 * The denials of the rules for everything that these calls reach, beyond their arguments; undefined when no rule about
 * them has a path or a host. A denial for one of several calls applies to all.
 */
export function toDenied(
  calls: readonly PolicyCall[],
  { rulesFor, evaluate }: Judging,
  places: Places,
): Denied | undefined {
  const rules = calls.flatMap(({ name }) => rulesFor(name).map(({ rule }) => rule));
  const limiting = rules.filter(({ mode, args }) => mode === "deny" && args && Object.keys(args).length > 0);
  const globs = limiting.flatMap(({ args }) => args?.path ?? []);
  const hasHosts = limiting.some(({ args }) => args?.host !== undefined);
  if (globs.length === 0 && !hasHosts) return undefined;
  const judge = (more: Pick<PolicyCall, "file" | "host">): string | undefined => {
    for (const call of calls) {
      const { mode, reason } = evaluate({ ...call, ...more });
      if (mode === "deny") return reason;
    }
    return undefined;
  };
  /** Searched once per call, which may start many programs. */
  let masks: Promise<readonly Path[]> | undefined;
  const findMasks = async () => {
    const patterns = globs.flatMap((glob) => toPatterns(glob, places));
    return (await findMatching(patterns, places.roots)).filter((path) => file(path) !== undefined);
  };
  const file: Denied["file"] = (path) => (globs.length === 0 ? undefined : judge({ file: pathToUri(path) }));
  return {
    file,
    host: (authority) => (hasHosts ? judge({ host: authority }) : undefined),
    masks() {
      masks ??= findMasks();
      return masks;
    },
  };
}
