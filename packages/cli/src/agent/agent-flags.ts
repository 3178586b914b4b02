import { PROVIDER_NAMES, type ProviderName } from "@octant/agent";
import type { OpenAgentOptions, SessionChoice } from "@octant/app";
import { THINKING, type Thinking } from "@octant/runtime";
import { type FlagValues, type Io, UsageError } from "../command.ts";
import { toWorkspaceOptions } from "../open-octant.ts";
import { workspaceFlags } from "../workspace-flags.ts";

/** Flags that choose the model and its effort. */
export const modelFlags = {
  provider: {
    summary: "The model provider",
    value: "NAME",
    choices: PROVIDER_NAMES,
    env: "OCTANT_PROVIDER",
  },
  model: { summary: "The model; HANZO_MODEL and the settings can name it too", value: "MODEL" },
  thinking: {
    summary: "How much the model thinks; the settings can say it too",
    value: "HOW",
    choices: THINKING,
    env: "OCTANT_THINKING",
  },
} as const;

/** Flags for tools that run elsewhere. */
export const hostFlags = {
  host: {
    summary:
      "Run the tools on another server: ipc:///…, tcp://host:port, or exec: and a command that starts it",
    value: "ADDRESS",
    env: "OCTANT_TOOL_HOST",
  },
  keys: { summary: "For --host tcp://: the key file of the server", value: "FILE" },
} as const;

/** Flags of every command that runs the agent: workspace, model, session. */
export const agentFlags = {
  ...workspaceFlags,
  ...modelFlags,
  ...hostFlags,
  resume: { summary: "Resume this session", value: "ID" },
  continue: { summary: "Resume the newest session of this folder" },
  fork: { summary: "Start a new session from a copy of this one", value: "ID" },
} as const;

export type AgentFlags = FlagValues<typeof agentFlags>;

export const toModelOptions = (
  flags: FlagValues<typeof modelFlags>,
): Pick<OpenAgentOptions, "provider" | "model" | "thinking"> => ({
  // The parser accepts only valid names.
  provider: flags.provider as ProviderName | undefined,
  model: flags.model,
  thinking: flags.thinking as Thinking | undefined,
});

/** Converts the flags to options for opening an agent. */
export const toAgentOptions = (flags: AgentFlags, io: Io) =>
  ({
    ...toWorkspaceOptions(flags, io),
    ...toModelOptions(flags),
    from: toSessionChoice(flags),
  }) satisfies OpenAgentOptions;

/** The server of `--host`; undefined without it. */
export async function openHost(
  { host, keys }: Pick<AgentFlags, "host" | "keys">,
  { env }: Io,
): Promise<OpenAgentOptions["host"]> {
  if (host === undefined) return undefined;
  const { openRemote } = await import("../open-remote.ts");
  const client = await openRemote({ via: host, keys }, env);
  return { address: host, dispatch: client.dispatch, close: () => client.close() };
}

/** The session that the flags select. */
export function toSessionChoice(flags: {
  readonly resume?: string | undefined;
  readonly continue?: boolean;
  readonly fork?: string | undefined;
}): SessionChoice | undefined {
  const given = [flags.resume, flags.continue || undefined, flags.fork].filter((one) => one !== undefined);
  if (given.length > 1)
    throw new UsageError(
      "--resume, --continue and --fork exclude each other",
      "octant sessions lists the ids",
    );
  if (flags.resume !== undefined) return { how: "resume", id: flags.resume };
  if (flags.fork !== undefined) return { how: "fork", id: flags.fork };
  return flags.continue ? { how: "latest" } : undefined;
}
