import type { Spent } from "./events.ts";
import type { Session } from "./session.ts";

/** Counts spending on behalf of a session where it happens: in its sub-agents and in calls of models as tools. */
export interface Spending {
  /** From now on, spending for this caller is recorded in the session's log. */
  join(caller: string, session: Session): void;
  /** Resolves when the spending is recorded. Callers without a session, such as MCP clients, are not counted. */
  spend(caller: string, spent: Omit<Spent, "type">): Promise<void>;
}

export function createSpending(): Spending {
  const sessions = new Map<string, Session>();
  return {
    join: (caller, session) => void sessions.set(caller, session),
    async spend(caller, spent) {
      const session = sessions.get(caller);
      if (!session) return;
      await afterBeginning(session, () => session.append({ type: "spent", ...spent }));
    },
  };
}

/**
 * Appends an event now, or as soon as the log has its beginning: it starts with what all requests have in common, and
 * the person's commands may spend before the first request.
 */
export async function afterBeginning(session: Session, append: () => Promise<unknown>): Promise<void> {
  if (session.conversation.model) {
    await append();
    return;
  }
  const stop = session.subscribe((event) => {
    if (event.type !== "session_began") return;
    stop();
    // A log that cannot be written ends the run itself.
    append().catch(() => {});
  });
}
