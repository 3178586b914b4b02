import { action } from "@octant/core";
import { z } from "zod";
import { findProject, ProjectId } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import { LINK_PARAMETER } from "./mount-preview.ts";
import type { PreviewAddress } from "./preview-address.ts";
import type { PreviewGrants } from "./preview-grants.ts";

export interface PreviewActionOptions {
  readonly store: HubStore;
  readonly grants: PreviewGrants;
  /** Known once the hub listens. */
  address(): PreviewAddress;
}

/** The action `container.preview`. Requests can change what the container has, so it needs write access. */
export const previewAction = ({ store, grants, address }: PreviewActionOptions) =>
  action({
    summary: "Make a link that opens a port of the project's container in a browser, once.",
    access: "write",
    timing: "sync",
    intent: "inspect",
    input: z.strictObject({
      project_id: ProjectId,
      port: z.int().min(1).max(65_535).describe("A server in the container listens on it"),
    }),
    output: z.object({
      url: z.string().describe("Opens once; the browser may use the preview for 12 hours"),
      origin: z.string().describe("For programs, which send their token in the Authorization header"),
    }),
    errors: ["NOT_FOUND"],
    examples: [
      {
        title: "A development server",
        input: { project_id: "project_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07", port: 5173 },
        fails: "NOT_FOUND",
      },
    ],
    projectOf: ({ project_id }) => project_id,
    async run(target, { caller }) {
      await findProject(store, target.project_id);
      const origin = address().originOf(target);
      const code = grants.createLink({ ...target, caller });
      return { origin, url: `${origin}/?${LINK_PARAMETER}=${code}` };
    },
  });
