import type { EndReason, StampedEvent } from "../events.ts";
import type { Session } from "../session.ts";
import type { Usage } from "../usage.ts";
import type { SearchSessionsOptions, SessionMatch } from "./search-sessions.ts";

/** A row in a list of sessions. */
export interface SessionInfo {
  readonly session_id: string;
  readonly title: string;
  readonly model: string;
  readonly provider: string;
  readonly cwd: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly turns: number;
  readonly usage: Usage;
  readonly tokens: number;
  readonly cost: number | null;
  readonly changed_files: readonly string[];
  /** null during a run, or when one was killed. */
  readonly ended: EndReason | null;
  readonly events: number;
  readonly parent: { readonly session_id: string; readonly kind: "agent" | "fork" } | null;
  /** Why it cannot be continued; null when it can. */
  readonly problem: string | null;
}

/** The stored sessions of a workspace. An id may be given as an unambiguous prefix; NOT_FOUND otherwise. */
export interface SessionStore {
  /** A new, empty session, which is not listed before its first event. */
  create(id?: string): Promise<Session>;
  /** A session with all acknowledged events. Throws LOCKED when it is open elsewhere. */
  open(id: string): Promise<Session>;
  /** A new session that starts with the events of another one, up to `seq`. */
  fork(id: string, seq?: number): Promise<Session>;
  /** Newest first. */
  list(): Promise<readonly SessionInfo[]>;
  info(id: string): Promise<SessionInfo>;
  /** Oldest first; also of a session that is open. */
  events(id: string): AsyncIterable<StampedEvent>;
  /** Completes a prefix of an id. */
  resolve(id: string): Promise<string>;
  /** Throws LOCKED while it is open elsewhere. */
  remove(id: string): Promise<void>;
  /** Best first, then newest first. */
  search(options: SearchSessionsOptions): Promise<readonly SessionMatch[]>;
}
