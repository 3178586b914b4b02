import { type Session, type ToolExecutor, textOf } from "@octant/agent";
import { toOneLine } from "@octant/core";
import type { Checkpoints, OpenTurn } from "@octant/host";
import { toTurnMark } from "./rewind.ts";

const MAX_LABEL_CHARS = 80;

/** Stores the state of the files before the first change of a turn, and after the turn. */
export interface TurnCheckpoints {
  around(tools: ToolExecutor): ToolExecutor;
  end(): Promise<void>;
}

export function createTurnCheckpoints(
  checkpoints: Checkpoints | undefined,
  session: Session,
): TurnCheckpoints {
  let turn: Promise<OpenTurn> | undefined;
  if (!checkpoints) return { around: (tools) => tools, end: async () => {} };
  return {
    around: (tools) => ({
      ...tools,
      async execute(call, options) {
        if (!tools.outline(call).reads_only) {
          turn ??= begin(checkpoints, session);
          await turn;
        }
        return tools.execute(call, options);
      },
    }),
    async end() {
      const ended = turn;
      turn = undefined;
      // A turn that failed to begin has already reported its error.
      await ended?.then(
        (begun) => begun.end(),
        () => {},
      );
    },
  };
}

/** The mark lets a rewind find the turn of a message, also in a fork of the session. */
async function begin(checkpoints: Checkpoints, session: Session): Promise<OpenTurn> {
  const turn = await checkpoints.begin(labelOf(session), { session_id: session.id, whole: true });
  if (turn.id !== undefined) await session.append(toTurnMark(turn.id));
  return turn;
}

/** The person's last request. */
function labelOf({ conversation: { messages } }: Session): string {
  const asked = messages.findLast((one) => one.role === "user" && one.origin === "person");
  const text = asked?.role === "user" ? toOneLine(textOf(asked.content).trim()) : "";
  return text.length > MAX_LABEL_CHARS ? `${text.slice(0, MAX_LABEL_CHARS - 1).toWellFormed()}…` : text;
}
