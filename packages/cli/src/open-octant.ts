import { statSync } from "node:fs";
import { ToolError } from "@octant/core";
import { type FlagValues, type Io, UsageError } from "./command.ts";
import { createOctant, type Octant, type OctantOptions, type OwnTool } from "./octant.ts";
import { UnknownNameError } from "./tool-choice.ts";
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
export function openOctant(
  flags: WorkspaceFlags,
  io: Io,
  more: Pick<
    OctantOptions,
    | "prompter"
    | "allow"
    | "env"
    | "keys"
    | "checkpointsByDefault"
    | "toolConfig"
    | "customTools"
    | "crew"
    | "tellsUnconfined"
  > = {},
): Octant<OwnTool> {
  try {
    const env = more.env ?? io.env;
    return createOctant({
      ...more,
      roots: rootsOf(flags, io),
      permissions: flags.permissions,
      mode: flags.mode,
      ...(flags.checkpoints && { checkpoints: true }),
      tools: flags.tools?.split(",").map((name) => name.trim()),
      // The settings read it from the environment like every other variable.
      env: {
        ...env,
        ...(flags["net-allow"] !== undefined && { OCTANT_NET_ALLOW: flags["net-allow"] }),
        ...(flags.screen && { OCTANT_SCREEN: "1" }),
      },
      log: (line) => logLine(line, io),
    });
  } catch (cause) {
    if (cause instanceof UnknownNameError) throw new UsageError(cause.message, "octant tools lists them");
    const missing = isMissing(cause) && rootsOf(flags, io).find((root) => !isFolder(root));
    if (missing) throw new UsageError(`${missing} is not a folder`, "--root names the folder to work in");
    throw cause;
  }
}

const isMissing = (cause: unknown): boolean =>
  cause instanceof ToolError && (cause.code === "NOT_FOUND" || cause.code === "NOT_A_DIRECTORY");

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
