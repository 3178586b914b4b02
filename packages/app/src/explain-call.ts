import { type AnyAction, actionOf, type Mode, ToolError, toolOf } from "@octant/core";
import { createNetwork, refusalOf } from "@octant/host";
import { explainPolicy, type PermissionSetting, type PolicyExplanation } from "@octant/runtime";
import type { Octant } from "./octant-api.ts";
import { toNetworkPolicy } from "./tools/machine-parts.ts";

export interface ExplainRequest {
  /** `fs.apply_patch`. */
  readonly name: string;
  /** It need not be complete. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly permissions?: PermissionSetting | undefined;
  readonly mode?: Mode | undefined;
}

/** The action of a name such as `fs.read`; INVALID_ARGUMENT or UNKNOWN_ACTION names those that exist. */
export function findCalled({ registry }: Pick<Octant, "registry">, name: string): AnyAction {
  const dot = name.indexOf(".");
  const [tool, action] = dot === -1 ? [name, undefined] : [name.slice(0, dot), name.slice(dot + 1)];
  return actionOf(toolOf(registry.list(), tool), action);
}

/** Explains which rule, tier, mode, hook and sandbox decide a call; nothing is called. */
export async function explainCall(octant: Octant, request: ExplainRequest): Promise<PolicyExplanation> {
  const { name, input, permissions = "host" } = request;
  const { rules, config, workspace } = octant;
  const action = findCalled(octant, name);
  return explainPolicy({
    name,
    action,
    input,
    policy: rules,
    permissions,
    mode: request.mode ?? config.settings.mode ?? undefined,
    hooks: config.settings.hooks,
    refusal: toRefusal(octant, action),
    sandbox: await workspace.sandbox.status(),
    unconfined: await workspace.sandbox.unconfined(),
  });
}

/** Asks the code that would refuse the call. */
function toRefusal({ workspace, config }: Octant, { access, intent }: AnyAction) {
  const network = createNetwork({ policy: toNetworkPolicy(config.settings) });
  const writes = access === "write" && intent === "apply";
  return (kind: "file" | "url", name: string): string | undefined => {
    if (kind === "file") return refusalOf(workspace.confinement, name, writes)?.message;
    try {
      network.checkUrl(name, false);
      return undefined;
    } catch (cause) {
      if (cause instanceof ToolError) return cause.message;
      throw cause;
    }
  };
}
