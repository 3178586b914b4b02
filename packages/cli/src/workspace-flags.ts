import { MODES, type Mode, ToolError } from "@octant/core";
import { type Flags, type FlagValues, type Io, UsageError } from "./command.ts";
import { createOctant, type Octant, type OwnTool } from "./octant.ts";
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
} as const satisfies Flags;

/** The workspace that the flags ask for, with its tools. */
export function openOctant(flags: FlagValues<typeof workspaceFlags>, io: Io): Octant<OwnTool> {
  try {
    return createOctant({
      roots: flags.root.length > 0 ? flags.root : [io.cwd()],
      mode: flags.mode,
      tools: flags.tools?.split(",").map((name) => name.trim()),
      env: io.env,
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
