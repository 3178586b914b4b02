import type { Registry } from "@octant/core";
import type { Files } from "@octant/host";

/** Makes the ref schemes of all tools, including those added later, readable with fs.read. */
export function serveToolRefs(
  registry: Registry,
  files: Pick<Files, "addRefScheme" | "hasRefScheme">,
  log: (line: string) => void,
): void {
  const removals = new Map<string, readonly (() => void)[]>();
  registry.changes.listen(({ value: { type, tool } }) => {
    for (const remove of removals.get(tool) ?? []) remove();
    removals.delete(tool);
    if (type === "removed") return;
    const schemes = Object.entries(registry.get(tool)?.refs ?? {}).filter(([scheme]) => {
      if (!files.hasRefScheme(scheme)) return true;
      log(`tool ${tool} cannot serve ${scheme}: refs, because another tool does`);
      return false;
    });
    removals.set(
      tool,
      schemes.map(([scheme, read]) => files.addRefScheme(scheme, read)),
    );
  });
}
