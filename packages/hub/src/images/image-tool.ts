import { action, defineTool } from "@octant/core";
import { z } from "zod";
import type { ContainerEngine } from "../engines/engine.ts";
import { findProject, ProjectId } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import { buildBaseImage } from "./base-image.ts";
import type { Images } from "./images.ts";

export interface ImageToolOptions {
  readonly store: HubStore;
  readonly engine: ContainerEngine;
  readonly images: Images;
  /** For archives while they are made. */
  readonly folder: string;
  /** Adds a line to the log of the project's container. */
  note(project_id: string, line: string): void;
}

const EXAMPLE_ID = "project_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";
const PackageName = z.string().regex(/^[a-z0-9][a-z0-9.+-]{1,62}$/, "the name of a Debian package");
const LONG = { access: "write", timing: "async_long", intent: "apply", openWorld: true } as const;

export const imageTool = ({ store, engine, images, folder, note }: ImageToolOptions) =>
  defineTool({
    name: "image_rebuild",
    summary: "Build the images of containers; the log of a build is the log of its job.",
    actions: {
      project: action({
        summary:
          "Build the image of a project from its devcontainer.json or Containerfile; container.refresh then uses it.",
        ...LONG,
        input: z.strictObject({ project_id: ProjectId }),
        output: z.object({
          image: z.string().nullable().describe("null: the project needs no image"),
          from: z.string(),
        }),
        errors: ["NOT_FOUND", "UNSUPPORTED", "UPSTREAM_ERROR", "INVALID_ARGUMENT", "VCS_ERROR"],
        examples: [{ title: "By project", input: { project_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        projectOf: ({ project_id }) => project_id,
        async run({ project_id }, { emit, signal }) {
          const project = await findProject(store, project_id);
          const onLine = (line: string) => {
            emit({ kind: "log", line });
            note(project_id, line);
          };
          const { from } = await images.planOf(project);
          const image = await images.rebuild(project, onLine, signal);
          return { image: image ?? null, from };
        },
      }),
      base: action({
        summary: "Build the hub's base image from packages of Debian, without a registry.",
        ...LONG,
        access: "admin",
        target: "global",
        input: z.strictObject({
          packages: z
            .array(PackageName)
            .max(200)
            .default([])
            .describe("Beside git, ca-certificates and ripgrep"),
        }),
        output: z.object({ image: z.string() }),
        errors: ["UNSUPPORTED", "UPSTREAM_ERROR"],
        examples: [{ title: "With Python", input: { packages: ["python3"] }, fails: "UNSUPPORTED" }],
        run: async ({ packages }, { emit, signal }) => ({
          image: await buildBaseImage(
            { engine, folder, packages },
            (line) => emit({ kind: "log", line }),
            signal,
          ),
        }),
      }),
    },
  });
