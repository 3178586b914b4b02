import {
  type AgentEvent,
  cacheHitRate,
  type EndReason,
  type RunEnded,
  type Session,
  textOf,
  tokensOf,
} from "@octant/agent";
import { EXIT } from "../command.ts";

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
export interface RunResult {
  readonly session_id: string;
  readonly reason: EndReason;
  readonly message: string | null;
  readonly text: string;
  readonly model: string;
  readonly provider: string;
  readonly turns: number;
  readonly tokens: number;
  readonly usage: RunEnded["usage"];
  readonly cache_hit_rate: number;
  readonly cost: number | null;
  readonly changed_files: readonly string[];
  /** Actions that no one could approve. */
  readonly unapproved: readonly string[];
}

/** Collects the result of a run. */
export function createRunResult(session: Session) {
  let text = "";
  const unapproved = new Set<string>();
  const asked = new Map<string, string>();
  const listen = (event: AgentEvent): void => {
    if (event.type === "message") text = textOf(event.message.content) || text;
    if (event.type === "permission_asked") asked.set(event.permission_id, event.action);
    if (event.type === "permission_answered" && event.answer === "unattended")
      unapproved.add(asked.get(event.permission_id) ?? "");
  };
  return {
    listen,
    finish({ reason, message, usage, cost, turns }: RunEnded): RunResult {
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
        unapproved: [...unapproved],
      };
    },
  };
}
