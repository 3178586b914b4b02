import { readFileSync } from "node:fs";
import {
  type AgentEvent,
  cacheHitRate,
  createOutputSchema,
  type EndReason,
  type OutputSchema,
  type RunEnded,
  type Session,
  textOf,
  tokensOf,
} from "@octant/agent";
import { toOneLine } from "@octant/core";
import type { PermissionPrompter } from "@octant/runtime";
import { EXIT, type Io, UsageError } from "../command.ts";
import { note, painted } from "../output.ts";

/** The exit codes of `octant run`, in addition to those of every command. */
export const RUN_EXIT = {
  ...EXIT,
  /** A limit was reached, or the model was in a loop. */
  LIMIT: 3,
  /** The model refused, or its answer was cut off. */
  REFUSED: 4,
  /** Done, but calls were refused because no one could approve them. */
  UNAPPROVED: 5,
  /** The answer does not match the schema. */
  UNFIT: 6,
} as const;

export const EXIT_OF: Readonly<Record<EndReason, number>> = {
  done: RUN_EXIT.OK,
  cancelled: RUN_EXIT.INTERRUPTED,
  refused: RUN_EXIT.REFUSED,
  output_limit: RUN_EXIT.REFUSED,
  max_turns: RUN_EXIT.LIMIT,
  max_tokens: RUN_EXIT.LIMIT,
  max_cost: RUN_EXIT.LIMIT,
  max_time: RUN_EXIT.LIMIT,
  repeated_calls: RUN_EXIT.LIMIT,
  failed: RUN_EXIT.FAILED,
};

/** The output of `octant run --json`. */
export type RunResult = ReturnType<ReturnType<typeof createRunResult>["finish"]>;

/** Records the actions that no one could approve, of the agent and of its sub-agents, and what would allow each. */
export function recordUnapproved(prompter: PermissionPrompter) {
  const unapproved = new Map<string, string>();
  return {
    unapproved,
    prompter: {
      ...prompter,
      async requestPermission(request) {
        const answer = await prompter.requestPermission(request);
        const { name, decision } = request;
        // No rule counts where nothing confines commands.
        const way = decision.tier === "sandbox" ? "octant sandbox accept" : `--allow ${name}`;
        if (answer.answer === "unattended") unapproved.set(name, way);
        return answer;
      },
    } satisfies PermissionPrompter,
  };
}

/** Collects the result of a run. */
export function createRunResult(session: Session, unapproved: ReadonlyMap<string, string>) {
  let text = "";
  const listen = (event: AgentEvent): void => {
    if (event.type === "message") text = textOf(event.message.content) || text;
  };
  return {
    listen,
    /** The last answer of the model. */
    text: () => text,
    finish({ reason, message, usage, cost, turns }: RunEnded) {
      const { model, changed } = session.conversation;
      return {
        session_id: session.id,
        reason,
        message: message ?? null,
        text,
        model: model?.id ?? "",
        provider: model?.provider ?? "",
        turns,
        tokens: tokensOf(usage),
        usage,
        cache_hit_rate: cacheHitRate(usage),
        cost,
        changed_files: [...changed.keys()],
        /** Actions that no one could approve. */
        unapproved: [...unapproved.keys()],
      };
    },
  };
}

/** Shows the work of a headless agent on stderr, one line at a time. */
export function createProgressLines({ stderr }: Pick<Io, "stderr">): (event: AgentEvent) => void {
  const write = (text: string) => note(painted("dim", text, stderr), { stderr });
  return (event) => {
    switch (event.type) {
      case "tool_began":
        write(`• ${toOneLine(event.title)}`);
        break;
      case "tool_ended":
        if (event.is_error) write(`  ${event.code ?? "failed"}: ${firstLine(event.content)}`);
        break;
      case "retry":
        write(`  ${toOneLine(event.reason)}; trying again in ${(event.delay_ms / 1_000).toFixed(1)} s`);
        break;
      case "compaction":
        write(`  compacted: ${event.tokens_before} → ${event.tokens_after} tokens`);
        break;
      case "notice":
        write(`  ${toOneLine(event.text)}`);
        break;
    }
  };
}

const firstLine = (content: readonly { readonly type: string; readonly text?: string }[]): string => {
  const text = content.find(({ type }) => type === "text")?.text ?? "";
  const [line = ""] = text.replace(/^[A-Z_]+: /, "").split("\n", 1);
  return toOneLine(line);
};

/** Loads the schema for `--output-schema`. */
export function loadOutputSchema(file: string): OutputSchema {
  try {
    return createOutputSchema(JSON.parse(readFileSync(file, "utf8")));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`--output-schema ${file}: ${reason}`, "it has to be a file with a JSON Schema");
  }
}
