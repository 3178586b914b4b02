import { expect, test } from "vitest";
import { createPlaceFence } from "../hosts/place-fence.ts";
import { type Project, ProjectLimits } from "../projects/project.ts";
import { connectToContainer } from "./container-connection.ts";

const PROJECT: Project = {
  ...{ id: "project_1", name: "demo", source: { empty: true }, limits: ProjectLimits.parse({}) },
  ...{ created_at: "2026-11-18T00:00:00Z", updated_at: "2026-11-18T00:00:00Z" },
};
const WORKSPACE = {
  ...{ id: "workspace_1", project_id: PROJECT.id, name: "w", branch: "octant/w", base: "0" },
  created_at: "2026-11-18T00:00:00Z",
};

test("a host that is lost while it prepares a workspace is not the end of the session", async () => {
  const hosts: string[] = [];
  const connecting = connectToContainer(
    {
      containers: {
        async makeRoom() {
          hosts.push(`host ${hosts.length + 1}`);
          const isFirst = hosts.length === 1;
          return () => isFirst;
        },
        explain: async () => undefined,
        async execTools() {
          throw new Error("no tools");
        },
      },
      workspaces: { pathInContainer: () => "/workspaces/workspace_1" },
      async prepare() {
        throw new Error(`${hosts.at(-1)} failed`);
      },
    },
    PROJECT,
    WORKSPACE,
    { onEnded() {}, waiting: { onWaiting() {}, signal: undefined } },
    createPlaceFence(() => {}),
  );
  // The second one is alive and has said why.
  await expect(connecting).rejects.toThrow("host 2 failed");
  expect(hosts).toHaveLength(2);
});
