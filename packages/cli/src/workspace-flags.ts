import { MODES, type Mode, ToolError } from "@octant/core";
import { type Flags, type FlagValues, type Io, UsageError } from "./command.ts";
import { createOctant, type Octant, type OctantOptions, type OwnTool } from "./octant.ts";
import { UnknownNameError } from "./tool-choice.ts";
import { toOneLine } from "./visible.ts";

// Object.keys forgets that the keys are the modes.
const MODE_NAMES = Object.keys(MODES) as Mode[];

/** The flags of every command that opens a workspace. */
export const workspaceFlags = {
  root: {
    summary: "A folder to work in; the current one by default",
    value: "DIR",
    many: true,
    env: "OCTANT_ROOT",
  },
  mode: { summary: "Allow only looking and this", value: "MODE", choices: MODE_NAMES, env: "OCTANT_MODE" },
  tools: { summary: "Only these tools", value: "LIST", env: "OCTANT_TOOLS" },
  "net-allow": {
    summary: "Hosts in private networks that net may reach, as host:port,…",
    value: "LIST",
    env: "OCTANT_NET_ALLOW",
  },
} as const satisfies Flags;

export const permissionFlags = {
  permissions: {
    summary: "Who asks the person: the host that started us, or Octant itself",
    value: "WHO",
    choices: ["host", "enforce"],
    env: "OCTANT_PERMISSIONS",
  },
} as const satisfies Flags;

/** The folders that the flags ask for. */
export const rootsOf = (flags: Pick<FlagValues<typeof workspaceFlags>, "root">, io: Io): readonly string[] =>
  flags.root.length > 0 ? flags.root : [io.cwd()];

/** The workspace that the flags ask for, with its tools. */
export function openOctant(
  flags: FlagValues<typeof workspaceFlags> & Partial<FlagValues<typeof permissionFlags>>,
  io: Io,
  more: Pick<OctantOptions, "prompter"> = {},
): Octant<OwnTool> {
  try {
    return createOctant({
      ...more,
      roots: rootsOf(flags, io),
      permissions: flags.permissions,
      mode: flags.mode,
      tools: flags.tools?.split(",").map((name) => name.trim()),
      // The settings read it from there, as they read all of the environment.
      env: flags["net-allow"] === undefined ? io.env : { ...io.env, OCTANT_NET_ALLOW: flags["net-allow"] },
      log: (line) => logLine(line, io),
    });
  } catch (cause) {
    if (cause instanceof UnknownNameError) throw new UsageError(cause.message, "octant tools lists them");
    if (cause instanceof ToolError && cause.code === "NOT_FOUND")
      throw new ToolError(cause.code, "the root is not there; --root names a folder", cause.details, {
        cause,
      });
    throw cause;
  }
}

/** One line on stderr; stdout is for what the reader of a command asked for. */
export const logLine = (line: string, { stderr }: Io): boolean =>
  stderr.write(`octant: ${toOneLine(line)}\n`);
