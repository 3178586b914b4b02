import { withoutKeys } from "../agent/choose-client.ts";
import { createMemberHosts } from "../agent/worktree.ts";
import { openOctant } from "../octant.ts";
import type { OctantOptions } from "../octant-api.ts";
import { createLocalHost } from "./local-host.ts";
import type { OpenedPlace } from "./places.ts";

type PlaceOptions = OctantOptions &
  Required<Pick<OctantOptions, "env">> & {
    /** Only these of the server's tools. */
    readonly wanted: readonly string[] | undefined;
  };

/** The tools and the policy of an agent, for a session whose loop runs in another process. */
export async function openPlace({ wanted, ...options }: PlaceOptions): Promise<OpenedPlace> {
  const env = withoutKeys(options.env);
  const given = { env, allow: options.allow, permissions: "enforce" } as const;
  const octant = await openOctant({
    ...options,
    ...given,
    checkpointsByDefault: true,
    toolConfig: { enable: ["core", "notes"] },
  });
  // These need models, which the process with the loop has.
  for (const name of ["agent", "llm"]) octant.removeTool(name);
  for (const { name } of wanted ? octant.registry.list() : [])
    if (!wanted?.includes(name)) octant.removeTool(name);
  const members = createMemberHosts(octant, { ...given, crew: noCrew });
  return {
    host: createLocalHost(octant, env),
    members,
    questions: octant.questions,
    async close() {
      await members.close();
      await octant.close();
    },
  };
}

const noCrew = () => {
  throw new Error("sub-agents are in the process that has the models");
};
