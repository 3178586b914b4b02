import { newHandle, ToolError } from "@octant/core";
import { Conversation } from "../conversation.ts";
import type { EndReason, StampedEvent, StoredEvent } from "../events.ts";
import { type EventStore, Session } from "../session.ts";
import { settleOpenCalls } from "../settle-calls.ts";
import { NO_USAGE, tokensOf } from "../usage.ts";
import { LOG_FORMAT } from "./event-shape.ts";
import { type SearchSessionsOptions, type SessionMatch, searchSessions } from "./search-sessions.ts";
import type { SessionInfo, SessionStore } from "./session-store.ts";

/** Where the logs of sessions are: files, or a database. */
export interface SessionLogs {
  /** Newest first. */
  ids(): Promise<readonly string[]>;
  /** Whether there is one of exactly this id. */
  has(id: string): Promise<boolean>;
  /** Oldest first. `onDamage` gets the number of a record that is missing or unreadable, and may throw. */
  read(id: string, onDamage?: (record: number) => void): AsyncIterable<StampedEvent>;
  /** Opens a log for this process alone, which may be a new one; LOCKED when it is open elsewhere. */
  open(id: string): Promise<EventStore>;
  /** LOCKED while it is open elsewhere. */
  remove(id: string): Promise<void>;
  /** The summary that `make` makes, until the log grows. */
  summary(id: string, make: () => Promise<SessionInfo>): Promise<SessionInfo>;
}

/** Sessions as logs of events. */
export class LogSessionStore implements SessionStore {
  readonly #logs: SessionLogs;

  constructor(logs: SessionLogs) {
    this.#logs = logs;
  }

  async create(id = newHandle("ses", Date.now())): Promise<Session> {
    return new Session({ id, store: await this.#logs.open(id) });
  }

  async open(given: string): Promise<Session> {
    const id = await this.resolve(given);
    const store = await this.#logs.open(id);
    const session = new Session({ id, store });
    try {
      for await (const event of this.#logs.read(id, refuseDamage(id))) session.replay(refuseNewer(id, event));
    } catch (cause) {
      await session.close();
      throw cause;
    }
    return settled(session);
  }

  /** `id`: that of the copy. */
  async fork(given: string, seq = Number.POSITIVE_INFINITY, id?: string): Promise<Session> {
    const from = await this.resolve(given);
    let isDamaged = false;
    const onDamage = (record: number) => {
      if (record === 1) refuseDamage(from)(record);
      isDamaged = true;
    };
    const session = await this.create(id);
    try {
      for await (const event of this.#logs.read(from, onDamage)) {
        if (isDamaged || event.seq > seq) break;
        await session.append(toForked(refuseNewer(from, event), from));
      }
    } catch (cause) {
      await session.close();
      throw cause;
    }
    return settled(session);
  }

  async list(): Promise<readonly SessionInfo[]> {
    const all = await Promise.all((await this.#logs.ids()).map((id) => this.#summaryOf(id)));
    return all
      .filter(({ events, problem }) => events > 0 || problem !== null)
      .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
  }

  async info(id: string): Promise<SessionInfo> {
    return this.#summaryOf(await this.resolve(id));
  }

  async *events(id: string): AsyncGenerator<StampedEvent> {
    yield* this.#logs.read(await this.resolve(id));
  }

  async resolve(id: string): Promise<string> {
    if (await this.#logs.has(id)) return id;
    const ids = await this.#logs.ids();
    const found = ids.filter((one) => one.startsWith(id) || one.startsWith(`ses_${id}`));
    const [only] = found;
    if (only !== undefined && (found.length === 1 || only === id)) return only;
    const why =
      found.length > 1 ? `${found.length} sessions begin with '${id}'` : `there is no session '${id}'`;
    throw new ToolError("NOT_FOUND", `${why}; octant sessions lists them`, { id });
  }

  search(options: SearchSessionsOptions): Promise<readonly SessionMatch[]> {
    return searchSessions(this, options);
  }

  async remove(given: string): Promise<void> {
    await this.#logs.remove(await this.resolve(given));
  }

  async #summaryOf(id: string): Promise<SessionInfo> {
    try {
      return await this.#logs.summary(id, () => summarize(id, (onDamage) => this.#logs.read(id, onDamage)));
    } catch (cause) {
      // One session that cannot be read is one row, and the others are listed.
      return unreadable(id, cause instanceof Error ? cause.message : String(cause));
    }
  }
}

/** The session after its open calls have results, so that it can be continued and shown. */
async function settled(session: Session): Promise<Session> {
  try {
    await settleOpenCalls(session);
    return session;
  } catch (cause) {
    await session.close();
    throw cause;
  }
}

/** A conversation with a hole would be refused by the provider, or mislead the model. */
const refuseDamage = (id: string) => (record: number) => {
  const next =
    record === 1
      ? "nothing of it can be continued"
      : `octant run --fork ${id} continues from the events before it`;
  const what = `is damaged at line ${record}, or was written by another version`;
  throw new ToolError("IO_ERROR", `the log of session ${id} ${what}; ${next}`, {});
};

function toForked(event: StampedEvent, from: string): StoredEvent {
  const { seq, session_id: _id, at: _at, ...rest } = event;
  if (rest.type !== "session_began") return rest;
  return { ...rest, parent: { session_id: from, kind: "fork", seq } };
}

const unreadable = (session_id: string, problem: string): SessionInfo => ({
  session_id,
  title: "",
  model: "",
  provider: "",
  cwd: "",
  created_at: "",
  updated_at: "",
  turns: 0,
  usage: NO_USAGE,
  tokens: 0,
  cost: null,
  changed_files: [],
  ended: null,
  events: 0,
  parent: null,
  problem,
});

/** The summary of all events that can be read. */
async function summarize(
  id: string,
  read: (onDamage: (record: number) => void) => AsyncIterable<StampedEvent>,
): Promise<SessionInfo> {
  const conversation = new Conversation();
  let problem: string | null = null;
  let created_at = "";
  let updated_at = "";
  let ended: EndReason | null = null;
  let parent: SessionInfo["parent"] = null;
  let count = 0;
  const onDamage = (record: number) => {
    problem ??= `line ${record} is damaged, or of another version`;
  };
  for await (const event of read(onDamage)) {
    conversation.apply(event);
    if (isNewer(event)) problem ??= NEWER;
    created_at ||= event.at;
    updated_at = event.at;
    count += 1;
    if (event.type === "end") ended = event.reason;
    else if (event.type !== "title" && event.type !== "mark" && event.type !== "spent") ended = null;
    if (event.type === "session_began" && event.parent)
      parent = { session_id: event.parent.session_id, kind: event.parent.kind };
  }
  const { title, model, cwd, turns, usage, cost, changed } = conversation;
  return {
    session_id: id,
    title,
    model: model?.id ?? "",
    provider: model?.provider ?? "",
    cwd,
    created_at,
    updated_at,
    turns,
    usage,
    tokens: tokensOf(usage),
    cost,
    changed_files: [...changed.keys()],
    ended,
    events: count,
    parent,
    problem,
  };
}

const NEWER = "it was written by a newer version of Octant";

const isNewer = (event: StampedEvent): boolean =>
  event.type === "session_began" && (event.format ?? 0) > LOG_FORMAT;

/** A newer version may mean something else by the same events. */
function refuseNewer(id: string, event: StampedEvent): StampedEvent {
  if (!isNewer(event)) return event;
  throw new ToolError("UNSUPPORTED", `session ${id} cannot be continued: ${NEWER}; update Octant`, {
    what: "the format of the session",
    how: "update Octant, or start a new session",
  });
}
