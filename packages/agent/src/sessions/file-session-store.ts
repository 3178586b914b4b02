import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newHandle, ToolError } from "@octant/core";
import { Conversation } from "../conversation.ts";
import type { EndReason, StampedEvent, StoredEvent } from "../events.ts";
import { type EventStore, Session } from "../session.ts";
import { settleOpenCalls } from "../settle-calls.ts";
import { NO_USAGE, tokensOf } from "../usage.ts";
import { LOG_FORMAT } from "./event-shape.ts";
import { openLogFile, readLogFile } from "./log-file.ts";
import { type SearchSessionsOptions, type SessionMatch, searchSessions } from "./search-sessions.ts";
import type { SessionInfo, SessionStore } from "./session-store.ts";

export interface FileSessionStoreOptions {
  readonly folder: string;
  /** Locks an open session against other processes; returns the release function, or throws LOCKED. */
  readonly lock?: (file: string) => Promise<() => Promise<void>>;
}

const LOG = ".jsonl";
const SUMMARY = ".info.json";
const ID = /^ses_[0-9a-z]{36}$/;

/** Sessions as files of one folder: a log each, and its summary. */
export class FileSessionStore implements SessionStore {
  readonly #folder: string;
  readonly #lock: NonNullable<FileSessionStoreOptions["lock"]>;

  constructor({ folder, lock = async () => async () => {} }: FileSessionStoreOptions) {
    this.#folder = folder;
    this.#lock = lock;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  create(): Promise<Session> {
    return this.#attach(newHandle("ses", Date.now()), []);
  }

  async open(given: string): Promise<Session> {
    const id = this.#find(given);
    return settled(await this.#attach(id, refuseNewer(id, readLogFile(this.#fileOf(id), refuseDamage(id)))));
  }

  async fork(given: string, seq = Number.POSITIVE_INFINITY): Promise<Session> {
    const from = this.#find(given);
    let isDamaged = false;
    const onDamage = (line: number) => {
      if (line === 1) refuseDamage(from)(line);
      isDamaged = true;
    };
    const session = await this.create();
    try {
      for (const event of refuseNewer(from, readLogFile(this.#fileOf(from), onDamage))) {
        if (isDamaged || event.seq > seq) break;
        await session.append(toForked(event, from));
      }
    } catch (cause) {
      await session.close();
      throw cause;
    }
    return settled(session);
  }

  async list(): Promise<readonly SessionInfo[]> {
    return this.#ids()
      .map((id) => this.#summaryOf(id))
      .filter(({ events, problem }) => events > 0 || problem !== null)
      .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
  }

  async info(id: string): Promise<SessionInfo> {
    return this.#summaryOf(this.#find(id));
  }

  async *events(id: string): AsyncGenerator<StampedEvent> {
    yield* readLogFile(this.#fileOf(this.#find(id)));
  }

  async resolve(id: string): Promise<string> {
    return this.#find(id);
  }

  search(options: SearchSessionsOptions): Promise<readonly SessionMatch[]> {
    return searchSessions(this, options);
  }

  #find(id: string): string {
    const found = this.#ids().filter((one) => one.startsWith(id) || one.startsWith(`ses_${id}`));
    const [only] = found;
    if (only !== undefined && (found.length === 1 || only === id)) return only;
    const why =
      found.length > 1 ? `${found.length} sessions begin with '${id}'` : `there is no session '${id}'`;
    throw new ToolError("NOT_FOUND", `${why}; octant sessions lists them`, { id });
  }

  async remove(given: string): Promise<void> {
    const id = this.#find(given);
    const release = await this.#lock(this.#fileOf(id));
    for (const suffix of [LOG, SUMMARY]) rmSync(this.#fileOf(id, suffix), { force: true });
    await release();
  }

  #fileOf(id: string, suffix = LOG): string {
    return join(this.#folder, `${id}${suffix}`);
  }

  #ids(): string[] {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith(LOG))
      .map((name) => name.slice(0, -LOG.length))
      .filter((id) => ID.test(id))
      .sort()
      .reverse();
  }

  async #attach(id: string, events: Iterable<StampedEvent>): Promise<Session> {
    const release = await this.#lock(this.#fileOf(id));
    let store: EventStore | undefined;
    const close = async () => {
      await store?.close();
      await release();
    };
    try {
      store = await openLogFile(this.#fileOf(id));
      return new Session({ id, events, store: { ...store, close } });
    } catch (cause) {
      await close();
      throw cause;
    }
  }

  /** The summary of a log, cached next to it until the log grows. */
  #summaryOf(id: string): SessionInfo {
    const file = this.#fileOf(id, SUMMARY);
    try {
      const { size } = statSync(this.#fileOf(id));
      const cached = readSummary(file);
      if (cached?.format === SUMMARY_FORMAT && cached.size === size) return cached.info;
      const info = summarize(id, this.#fileOf(id));
      storeSummary(file, { format: SUMMARY_FORMAT, size, info });
      return info;
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
const refuseDamage = (id: string) => (line: number) => {
  const next =
    line === 1
      ? "nothing of it can be continued"
      : `octant run --fork ${id} continues from the events before it`;
  const what = `is damaged at line ${line}, or was written by another version`;
  throw new ToolError("IO_ERROR", `the log of session ${id} ${what}; ${next}`, {});
};

function toForked(event: StampedEvent, from: string): StoredEvent {
  const { seq, session_id: _id, at: _at, ...rest } = event;
  if (rest.type !== "session_began") return rest;
  return { ...rest, parent: { session_id: from, kind: "fork", seq } };
}

/** Grows with the fields of a summary. */
const SUMMARY_FORMAT = 1;

interface Summary {
  readonly format: number;
  readonly size: number;
  readonly info: SessionInfo;
}

function readSummary(file: string): Summary | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function storeSummary(file: string, summary: Summary): void {
  try {
    writeFileSync(file, JSON.stringify(summary), { mode: 0o600 });
  } catch {
    // It is only a cache, and part of a summary is not JSON.
  }
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
function summarize(id: string, file: string): SessionInfo {
  const conversation = new Conversation();
  let problem: string | null = null;
  let created_at = "";
  let updated_at = "";
  let ended: EndReason | null = null;
  let parent: SessionInfo["parent"] = null;
  let count = 0;
  const onDamage = (line: number) => {
    problem ??= `line ${line} is damaged, or of another version`;
  };
  for (const event of readLogFile(file, onDamage)) {
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
function* refuseNewer(id: string, events: Iterable<StampedEvent>): Generator<StampedEvent> {
  for (const event of events) {
    if (isNewer(event))
      throw new ToolError("UNSUPPORTED", `session ${id} cannot be continued: ${NEWER}; update Octant`, {
        what: "the format of the session",
        how: "update Octant, or start a new session",
      });
    yield event;
  }
}
