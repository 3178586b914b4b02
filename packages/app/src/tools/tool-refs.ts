import type { Registry } from "@octant/core";
import type { Files } from "@octant/host";

/** Makes the ref schemes of all tools, including those added later, readable with fs.read. */
export function serveToolRefs(
  registry: Registry,
  files: Pick<Files, "findRefReaders">,
  log: (line: string) => void,
): void {
  files.findRefReaders((scheme) => {
    const [tool, ...others] = registry.list().filter(({ refs = {} }) => Object.hasOwn(refs, scheme));
    for (const { name } of others)
      log(`tool ${name} cannot serve ${scheme}: refs, because ${tool?.name} does`);
    return tool?.refs?.[scheme];
  });
}
