import type { AgentEvent } from "@octant/agent";
import { loadVersion } from "../version.ts";
import type { OpenedAgent } from "./open-agent.ts";

/** As often as Claude Code. */
const DEBOUNCE_MS = 300;

const CHANGING: readonly AgentEvent["type"][] = [
  "message",
  "tool_ended",
  "end",
  "model_changed",
  "compaction",
];

/**
 * The lines of the person's status line script. It runs beside the work, one at a time, and again after what it reads
 * has changed; its last lines stay until then.
 */
export function watchStatusLine(
  opened: OpenedAgent,
  cwd: string,
  onChange: () => void,
): () => readonly string[] {
  const { agent, octant } = opened;
  if (!octant.config.settings.status_line) return () => [];
  const started = performance.now();
  const { signal } = new AbortController();
  let lines: readonly string[] = [];
  /** From the moment it is scheduled until it has ended. */
  let isRunning = false;
  let isStale = false;
  const run = async () => {
    isStale = false;
    try {
      const fields = statusOf(opened, cwd, performance.now() - started);
      lines = await octant.hooks.statusLine({ session: agent.session.id, fields }, signal);
      onChange();
    } catch {
      // The session is closing: nobody sees the line any more.
    }
    isRunning = false;
    if (isStale) schedule();
  };
  const schedule = () => {
    isStale = true;
    if (isRunning) return;
    isRunning = true;
    setTimeout(() => void run(), DEBOUNCE_MS).unref();
  };
  agent.subscribe(({ type }) => {
    if (CHANGING.includes(type)) schedule();
  });
  octant.modes.subscribe(schedule);
  schedule();
  return () => lines;
}

/** The fields of Claude Code's status line, as far as they mean something here. */
function statusOf({ agent, octant, client, caller }: OpenedAgent, cwd: string, elapsedMs: number) {
  const { conversation } = agent.session;
  const { usage, contextTokens: used, cost } = conversation;
  const { id, context_tokens: size } = conversation.model ?? client.model;
  const percentage = size > 0 ? Math.min(Math.round((used / size) * 100), 100) : 0;
  return {
    cwd,
    model: { id, display_name: id },
    workspace: { current_dir: cwd, project_dir: octant.workspace.confinement.start, added_dirs: [] },
    version: loadVersion(),
    output_style: { name: "default" },
    permission_mode: octant.modes.session(caller),
    cost: { total_cost_usd: cost, total_duration_ms: Math.round(elapsedMs) },
    context_window: {
      total_input_tokens: usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
      total_output_tokens: usage.output_tokens,
      context_window_size: size,
      used_percentage: percentage,
      remaining_percentage: 100 - percentage,
    },
  };
}
