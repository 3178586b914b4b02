import { Readable } from "node:stream";
import { invalidArgument, ToolError } from "@octant/core";
import type { ContainerEngine, ImageSpec, OnLine } from "../engines/engine.ts";
import type { Project } from "../projects/project.ts";
import { BASE_IMAGE } from "./base-image.ts";
import { type Devcontainer, parseDevcontainer } from "./devcontainer.ts";
import { type ProjectFiles, resolveInside } from "./project-files.ts";
import { toTarEntries } from "./tar.ts";

/** The image of a project's container and its setup commands. */
export interface ProjectImage {
  /** Absent: the programs of the hub's machine. */
  readonly image?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Run in every new workspace. */
  readonly postCreate: readonly (readonly string[])[];
}

interface Plan extends Pick<ProjectImage, "env" | "postCreate"> {
  /** Where it comes from, for people. */
  readonly from: string;
  readonly image?: string | undefined;
  readonly build?: Pick<ImageSpec, "containerfile" | "buildArgs" | "target"> & { readonly context: string };
  readonly features: readonly {
    readonly place: string;
    readonly options: Readonly<Record<string, string>>;
  }[];
  readonly notes: readonly string[];
}

export type Images = ReturnType<typeof createImages>;

const DEVCONTAINERS = [".devcontainer/devcontainer.json", ".devcontainer.json"];
const CONTAINERFILES = ["Containerfile", ".devcontainer/Containerfile", ".devcontainer/Dockerfile"];
const ID_CHARS = 16;
const FEATURE_FILE = "octant-feature.Containerfile";
const NOTHING = { env: {}, postCreate: [], features: [], notes: [] } as const;

/** The images of projects: named, built from the project's own files, or none. */
export function createImages({
  engine,
  files,
}: {
  readonly engine: ContainerEngine;
  readonly files: ProjectFiles;
}) {
  const tagOf = ({ id, image_version = "latest" }: Project, suffix = "") =>
    `localhost/octant-project-${id.slice(-ID_CHARS).toLowerCase()}${suffix}:${image_version}`;

  const planOf = async (project: Project): Promise<Plan> => {
    const devcontainer = await files.firstOf(project, DEVCONTAINERS);
    const settings = devcontainer && parseDevcontainer(devcontainer.text, devcontainer.path);
    const common = settings && devcontainer ? commonOf(settings, devcontainer.path) : NOTHING;
    if (project.image !== undefined)
      return { ...common, features: [], image: project.image, from: "the project's settings" };
    if (settings?.image !== undefined)
      return { ...common, image: settings.image, from: devcontainer?.path ?? "" };
    if (settings?.build && devcontainer) {
      const { dockerfile, context, args, target } = settings.build;
      const place = resolveInside(devcontainer.path, context);
      const file = resolveInside(devcontainer.path, dockerfile);
      if (place === undefined || file === undefined)
        throw invalidArgument(devcontainer.path, "build names files outside of the project");
      const containerfile = place === "." || place === "" ? file : file.slice(place.length + 1);
      const build = { context: place || ".", containerfile, buildArgs: args, target };
      return { ...common, build, from: `${file} (${devcontainer.path})` };
    }
    const found = await files.firstOf(project, CONTAINERFILES);
    if (!found) return { ...common, from: devcontainer?.path ?? "the hub" };
    return { ...common, build: { context: ".", containerfile: found.path }, from: found.path };
  };

  const build = async (
    project: Project,
    plan: Plan,
    onLine: OnLine,
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    // A build gets the network of the project; a list of hosts applies to containers only.
    const network = project.limits.network === "on" ? "on" : "none";
    let image = plan.image;
    if (plan.build) {
      const { context, ...rest } = plan.build;
      image = tagOf(project);
      onLine(`building ${image} from ${plan.from}, network ${network}`);
      const archive = await files.archive(project, context, signal);
      try {
        await engine.build({ ...rest, tag: image, context: archive.stream, network }, onLine, signal);
      } finally {
        await archive.close();
      }
    } else if (image !== undefined && !(await engine.hasImage(image))) {
      if (image === BASE_IMAGE)
        throw new ToolError("NOT_FOUND", `there is no image ${image} yet; image_rebuild.base makes it`, {
          id: image,
        });
      onLine(`downloading ${image}`);
      await engine.pull(image, onLine, signal);
    }
    for (const [index, { place, options }] of plan.features.entries()) {
      if (image === undefined)
        throw new ToolError("UNSUPPORTED", "features need an image", {
          what: "features without image or build",
          how: "name an image or a build in devcontainer.json",
        });
      const tag = tagOf(project, `-feature${index + 1}`);
      onLine(`adding the feature ${place}`);
      const archive = await files.archive(project, place, signal);
      const containerfile = toTarEntries([{ name: FEATURE_FILE, content: toFeatureFile(image, options) }]);
      const context = Readable.from(concat(containerfile, archive.stream));
      try {
        await engine.build({ tag, context, containerfile: FEATURE_FILE, network }, onLine, signal);
      } finally {
        await archive.close();
      }
      image = tag;
    }
    return image;
  };
  /** The image that a build of the plan makes. */
  const builtTag = (project: Project, { features, build: own, image }: Plan): string | undefined =>
    features.length > 0 ? tagOf(project, `-feature${features.length}`) : own ? tagOf(project) : image;

  return {
    planOf,
    /** Builds or downloads what is missing. */
    async resolve(project: Project, onLine: OnLine, signal: AbortSignal): Promise<ProjectImage> {
      const plan = await planOf(project);
      const { env, postCreate } = plan;
      for (const note of plan.notes) onLine(note);
      const wanted = builtTag(project, plan);
      const { images, name } = await engine.status();
      if (!images) {
        if (project.image === undefined && wanted !== undefined)
          onLine(
            `the image of ${plan.from} is not used: the engine ${name} has the programs of this machine`,
          );
        return { env, postCreate, image: project.image };
      }
      const isThere = wanted === undefined || (await engine.hasImage(wanted));
      const image = isThere ? wanted : await build(project, plan, onLine, signal);
      return { env, postCreate, image };
    },
    /** Builds it again, from the project's files as they are now. undefined: the project needs no image. */
    async rebuild(project: Project, onLine: OnLine, signal: AbortSignal): Promise<string | undefined> {
      const { images } = await engine.status();
      const plan = await planOf(project);
      if (images) return build(project, plan, onLine, signal);
      throw new ToolError(
        "UNSUPPORTED",
        "the local engine has no images: its containers have the programs of this machine",
        {
          what: "image_rebuild on the local engine",
          how: "use Podman: octant hub --engine podman",
        },
      );
    },
  };
}

function commonOf({ env, postCreate, notes, features }: Devcontainer, path: string) {
  return {
    env,
    postCreate,
    notes,
    features: features.map(([name, options]) => {
      const place = name.startsWith("./") ? resolveInside(path, name) : undefined;
      if (place !== undefined) return { place, options };
      throw new ToolError(
        "UNSUPPORTED",
        `the feature ${name} is not in the project, and the hub downloads none`,
        {
          what: `the feature ${name} in ${path}`,
          how: "copy it into a folder beside devcontainer.json and name that: ./my-feature",
        },
      );
    }),
  };
}

/** Options of features are values of the project's file; a line break would begin another instruction. */
const toFeatureFile = (image: string, options: Readonly<Record<string, string>>): string =>
  [
    `FROM ${image}`,
    "USER root",
    "COPY . /tmp/octant-feature",
    ...Object.entries(options).map(
      ([name, value]) => `ARG ${name}=${JSON.stringify(value).replaceAll("$", "\\$")}`,
    ),
    "RUN cd /tmp/octant-feature && chmod +x install.sh && ./install.sh",
    "",
  ].join("\n");

async function* concat(first: Buffer, rest: Readable): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}
