import { MODE_NAMES, toOneLine } from "@octant/core";
import type { Flags, Io } from "./command.ts";
import { note } from "./output.ts";
import { asTyped } from "./person-command.ts";

/** Flags of every command that opens a workspace. */
export const workspaceFlags = {
  root: {
    summary: "A folder to work in; the current one by default",
    value: "DIR",
    many: true,
    env: "OCTANT_ROOT",
  },
  mode: {
    summary: "How much runs without a question; or allow only reading and one intent",
    value: "MODE",
    choices: MODE_NAMES,
    env: "OCTANT_MODE",
  },
  tools: { summary: "Only these tools", value: "LIST", env: "OCTANT_TOOLS" },
  pack: { summary: "A folder or the name of a pack whose tools to add", value: "PACK", many: true },
  "net-allow": {
    summary: "Hosts in private networks that net may reach, as host:port,…",
    value: "LIST",
    env: "OCTANT_NET_ALLOW",
  },
  screen: { summary: "Let ui see and drive your screen (or OCTANT_SCREEN=1)" },
} as const satisfies Flags;

export const permissionFlags = {
  permissions: {
    summary: "Who asks for approval: the host that started Octant, or Octant itself",
    value: "WHO",
    choices: ["host", "enforce"],
    env: "OCTANT_PERMISSIONS",
  },
} as const satisfies Flags;

export const checkpointFlags = {
  checkpoints: {
    summary: "Checkpoint files before every command, so that proc.exec answers with an undo ref",
    env: "OCTANT_CHECKPOINTS",
  },
} as const satisfies Flags;

/** The folders that the flags select. */
export const rootsOf = ({ root = [] }: { readonly root?: readonly string[] }, io: Io): readonly string[] =>
  root.length > 0 ? root : [io.cwd()];

/** One line on stderr; stdout is for the command's result. */
export const logLine = (line: string, io: Io): boolean => note(`octant: ${toOneLine(asTyped(line, io))}`, io);
