import type { SessionRow } from "../../../src/api.ts";

export interface TreeRow {
  readonly session: SessionRow & { readonly process: string };
  readonly depth: number;
}

/** Sub-agents stand below the session that started them; forks and all others on their own, newest first. */
export function toTree(sessions: readonly TreeRow["session"][], text = ""): readonly TreeRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = ({ title, session_id, model, cwd, changed_files }: SessionRow) => {
    const all = [title, session_id, model, cwd, ...changed_files].join(" ").toLowerCase();
    return words.every((word) => all.includes(word));
  };
  const known = new Set(sessions.map(({ session_id }) => session_id));
  const children = Map.groupBy(
    sessions.filter(({ parent }) => parent?.kind === "agent" && known.has(parent.session_id)),
    ({ parent }) => parent?.session_id ?? "",
  );
  const isChild = new Set([...children.values()].flat().map(({ session_id }) => session_id));
  const rows: TreeRow[] = [];
  const add = (session: TreeRow["session"], depth: number, wanted: boolean): void => {
    const isWanted = wanted || matches(session);
    const at = rows.length;
    for (const child of [...(children.get(session.session_id) ?? [])].reverse())
      add(child, depth + 1, isWanted);
    // A session is shown when it matches, or when one of its sub-agents does.
    if (isWanted || rows.length > at) rows.splice(at, 0, { session, depth });
  };
  for (const session of sessions) if (!isChild.has(session.session_id)) add(session, 0, words.length === 0);
  return rows;
}

/** The ids of the sub-agents of a session, and of theirs. */
export function subAgentsOf(sessions: readonly SessionRow[], id: string): readonly string[] {
  const own = sessions.filter(({ parent }) => parent?.kind === "agent" && parent.session_id === id);
  return own.flatMap(({ session_id }) => [session_id, ...subAgentsOf(sessions, session_id)]);
}
