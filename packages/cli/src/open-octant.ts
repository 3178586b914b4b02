import { statSync } from "node:fs";
import {
  type Octant,
  type OctantOptions,
  type OwnTool,
  openOctant as open,
  UnknownNameError,
} from "@octant/app";
import { ToolError } from "@octant/core";
import { type FlagValues, type Io, UsageError } from "./command.ts";
import {
  type checkpointFlags,
  logLine,
  type permissionFlags,
  rootsOf,
  type workspaceFlags,
} from "./workspace-flags.ts";

export type WorkspaceFlags = Partial<
  FlagValues<typeof workspaceFlags & typeof permissionFlags & typeof checkpointFlags>
>;

/** Opens the workspace that the flags select, with its tools. */
export async function openOctant(
  flags: WorkspaceFlags,
  io: Io,
  more: Pick<OctantOptions, "toolConfig" | "command"> = {},
): Promise<Octant<OwnTool>> {
  try {
    return await open({
      ...more,
      ...toWorkspaceOptions(flags, io),
      permissions: flags.permissions,
      ...(flags.checkpoints && { checkpoints: true }),
    });
  } catch (cause) {
    return explainWorkspace(cause, flags, io);
  }
}

/** The options of the workspace that the flags select. */
export const toWorkspaceOptions = (flags: WorkspaceFlags, io: Io) =>
  ({
    roots: rootsOf(flags, io),
    mode: flags.mode,
    packs: flags.pack,
    tools: flags.tools?.split(",").map((name) => name.trim()),
    // The settings read it from the environment like every other variable.
    env: {
      ...io.env,
      ...(flags["net-allow"] !== undefined && { OCTANT_NET_ALLOW: flags["net-allow"] }),
      ...(flags.screen && { OCTANT_SCREEN: "1" }),
    },
    log: (line) => void logLine(line, io),
  }) satisfies OctantOptions;

/** Throws a UsageError when the flags name a tool or a folder that does not exist. */
export function explainWorkspace(cause: unknown, flags: WorkspaceFlags, io: Io): never {
  if (cause instanceof UnknownNameError) throw new UsageError(cause.message, "octant tools lists them");
  const missing = isMissing(cause) && rootsOf(flags, io).find((root) => !isFolder(root));
  if (missing) throw new UsageError(`${missing} is not a folder`, "--root names the folder to work in");
  throw cause;
}

const isMissing = (cause: unknown): boolean =>
  cause instanceof ToolError && (cause.code === "NOT_FOUND" || cause.code === "NOT_A_DIRECTORY");

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** A large folder, such as the whole disk, takes a while. */
export function tellOpening(flags: WorkspaceFlags & { readonly host?: string | undefined }, io: Io): void {
  const project = `reading the project in ${rootsOf(flags, io).join(", ")} …`;
  logLine(flags.host === undefined ? project : `waiting for the tools of ${flags.host} …`, io);
}
