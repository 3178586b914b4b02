import { invalidArgument } from "@octant/core";
import { parseJsonc } from "@octant/runtime";
import { z } from "zod";

const Command = z.union([z.string(), z.array(z.string())]);
const Commands = z.union([Command, z.record(z.string(), Command)]);
const Env = z.record(z.string(), z.string().nullable());

/** The parts of devcontainer.json that the hub uses; the others are ignored, as the specification allows. */
const DevcontainerFile = z.looseObject({
  image: z.string().min(1).optional(),
  build: z
    .looseObject({
      dockerfile: z.string().min(1),
      context: z.string().optional(),
      args: z.record(z.string(), z.string()).optional(),
      target: z.string().optional(),
    })
    .optional(),
  dockerComposeFile: z.unknown().optional(),
  features: z.record(z.string(), z.unknown()).optional(),
  containerEnv: Env.optional(),
  remoteEnv: Env.optional(),
  postCreateCommand: Commands.optional(),
  workspaceFolder: z.string().optional(),
});

export interface Devcontainer {
  readonly image?: string | undefined;
  readonly build?:
    | {
        readonly dockerfile: string;
        readonly context: string;
        readonly args: Readonly<Record<string, string>>;
        readonly target?: string | undefined;
      }
    | undefined;
  /** Names and options, in the order of the file. */
  readonly features: readonly (readonly [name: string, options: Readonly<Record<string, string>>])[];
  readonly env: Readonly<Record<string, string>>;
  readonly postCreate: readonly (readonly string[])[];
  /** The deviations from the file, for people. */
  readonly notes: readonly string[];
}

/** `path` names it in errors. */
export function parseDevcontainer(text: string, path: string): Devcontainer {
  const parsed = DevcontainerFile.safeParse(readJsonc(text, path));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refuse(path, `${issue?.path.join(".")}: ${issue?.message}`);
  }
  const { image, build, features = {}, containerEnv, remoteEnv, ...rest } = parsed.data;
  if (rest.dockerComposeFile !== undefined)
    throw refuse(path, "dockerComposeFile is not supported; use image or build");
  const { postCreateCommand: command, workspaceFolder } = rest;
  const env = Object.entries({ ...containerEnv, ...remoteEnv }).flatMap(([name, value]) =>
    value === null ? [] : [[name, substitute(value)] as const],
  );
  return {
    image,
    build: build && { ...build, context: build.context ?? ".", args: build.args ?? {} },
    features: Object.entries(features).map(([name, options]) => [name, toOptions(options)] as const),
    env: Object.fromEntries(env),
    postCreate: command === undefined ? [] : toCommands(command),
    notes:
      workspaceFolder === undefined
        ? []
        : [`workspaceFolder ${workspaceFolder} is not used: workspaces are in ${WORKSPACES}/<workspace_id>`],
  };
}

const WORKSPACES = "/workspaces";

function readJsonc(text: string, path: string): unknown {
  try {
    return parseJsonc(text).value;
  } catch (cause) {
    if (cause instanceof Error) throw refuse(path, cause.message);
    throw cause;
  }
}

const refuse = (path: string, problem: string) =>
  invalidArgument(
    path,
    `${path}: ${problem} (correct it on the project's branch, or choose an image with project.update)`,
  );

/** A string runs in a shell, a list does not; several run one after the other, in the order of their names' lines. */
function toCommands(command: z.output<typeof Commands>): string[][] {
  if (typeof command === "string") return [["sh", "-c", command]];
  if (Array.isArray(command)) return [command];
  return Object.values(command).flatMap(toCommands);
}

/** Variables of the machine that runs the hub are not for containers, so `localEnv` is empty. */
const substitute = (value: string): string =>
  value
    .replaceAll(/\$\{localEnv:[^}:]*(?::([^}]*))?\}/g, (_, fallback: string | undefined) => fallback ?? "")
    .replaceAll(/\$\{containerWorkspaceFolder\}/g, WORKSPACES);

/** A feature gets its options as variables in capitals. */
function toOptions(options: unknown): Record<string, string> {
  if (typeof options === "string") return { VERSION: options };
  if (typeof options !== "object" || options === null) return {};
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name.replaceAll(/[^A-Za-z0-9_]/g, "_").toUpperCase(),
      String(value),
    ]),
  );
}
