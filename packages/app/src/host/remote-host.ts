import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  HostContext,
  HostJobs,
  HostTurns,
  MarkdownKind,
  MemberHost,
  MemberHosts,
  NamedMarkdown,
  PlannedUndo,
  ToolHost,
  Turn,
  WorktreeOutcome,
} from "@octant/agent";
import {
  type Caller,
  type CallOptions,
  type Dispatch,
  type Envelope,
  ERRORS,
  type Progress,
  ToolError,
} from "@octant/core";
import type { PermissionRule } from "@octant/runtime";
import type { ToolDeclaration } from "@octant/wire/stream";
import { askLate } from "../edge/remote-features.ts";
import { LOCAL_CALLER } from "../edges.ts";
import { HOST } from "./host-tool.ts";

export interface RemoteHostOptions {
  /** The dispatcher of a server in another process. */
  readonly dispatch: Dispatch;
  /** Rules that the person allowed for this run. */
  readonly allow?: readonly PermissionRule[] | undefined;
  /** Only these tools; all of the server's when absent. */
  readonly tools?: readonly string[] | undefined;
  /** Called when the server was restarted and the place is open again. */
  onRestart(): void;
  /** How long a call waits for a server that is being restarted. */
  readonly waitMs?: number;
}

/** A session's place in another process. */
export interface RemoteHost extends ToolHost {
  readonly members: MemberHosts;
  close(): Promise<void>;
}

const MAX_WAIT_MS = 15_000;
const JOB_WAIT_MS = 25_000;
const RETRY_MS = 500;

/** Opens a place for a session on a server in another process; it survives the restart of that server. */
export async function openRemoteHost(options: RemoteHostOptions): Promise<RemoteHost> {
  const { host, members, close } = await openPlace(
    options,
    "open",
    withoutUndefined({ allow: options.allow ?? [], tools: options.tools }),
  );
  return { ...host, members, close };
}

async function openPlace(options: RemoteHostOptions, how: string, input: object) {
  const { dispatch } = options;
  const place = randomUUID();
  const held = holdPlace(options, how, { place, ...input });
  const ask = async <D>(
    action: string,
    more: object = {},
    given: Partial<CallOptions> & { caller?: Caller } = {},
  ) => {
    const { envelope, attachments } = await dispatch(
      { tool: HOST, action, input: { place, ...more } },
      { caller: LOCAL_CALLER, ...given },
    );
    if (!envelope.ok)
      throw new ToolError(envelope.error.code, envelope.error.message, envelope.error.details);
    // The server is of the same protocol; an invalid field fails where it is used.
    return { data: envelope.data as D, attachments };
  };
  const get = async <D>(...request: Parameters<typeof ask>): Promise<D> => (await ask<D>(...request)).data;

  await held.first();
  const { createRemoteRegistry } = await import("@octant/wire/stream");
  const about = await get<{
    roots: readonly string[];
    declarations: readonly ToolDeclaration[];
    has_worktree: boolean;
    markdown: Readonly<Record<MarkdownKind, readonly NamedMarkdown[]>>;
  }>("about");
  const registry = createRemoteRegistry(about.declarations);

  const call: Dispatch = async ({ tool, action, input }, { caller, timingHint, key, ...given }) => {
    try {
      const epoch = await held.opened(given.signal);
      const more = withoutUndefined({ epoch, tool, action, input, timing_hint: timingHint, key });
      const { ask: front, signal, onProgress } = given;
      const { data, attachments } = await ask<{ envelope: Envelope; text: string }>("call", more, {
        caller,
        ask: front,
        ...(signal && { signal }),
        ...(onProgress && { onProgress }),
      });
      return { envelope: data.envelope, attachments, text: data.text };
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      const { code, message, details } = cause;
      const meta = { tool, action: String(action), trace_id: "", paging: { cursor: null, more: false } };
      // Only the error rows of a ToolError carry these details.
      const error = { code, message, details } as Envelope["error"];
      return { envelope: { ok: false, data: null, error, meta } as Envelope, attachments: [] };
    }
  };
  const host: ToolHost = {
    registry,
    dispatch: askLate(call, (job_id, given) => get("questions", { job_id }, given)),
    roots: about.roots,
    jobs: toJobs(get),
    turns: toTurns(get),
    diffOf: async (undo_ref) => (await get<{ diff: string }>("edit_diff", { undo_ref })).diff,
    context: () => get<HostContext>("context"),
    markdown: (kind) => about.markdown[kind],
  };
  const finish = async (is_done: boolean) =>
    (await get<{ outcome: WorktreeOutcome }>("finish", { is_done })).outcome;
  const members: MemberHosts = {
    async open({ of: _role, above, ...plan }) {
      const names = above.map(({ agent_id }) => ({ agent_id }));
      const opened = await openPlace(options, "open_member", {
        parent_place: place,
        plan: { ...plan, above: names },
      });
      return opened.asMember();
    },
    close: async () => {},
  };
  const asMember = (): MemberHost => ({
    host,
    join: (caller) => get("join", { caller }),
    finish: about.has_worktree ? finish : undefined,
    close: held.close,
  });
  return { host, members, asMember, close: held.close };
}

type Get = <D>(action: string, more?: object, given?: Partial<CallOptions>) => Promise<D>;

const asOwner = (id: string): Pick<CallOptions, "caller"> => ({ caller: { id, access: "read" } });

const toJobs = (get: Get): HostJobs => ({
  async ended(owner, job_id, ms, signal) {
    const until = performance.now() + ms;
    for (let left = ms; left > 0 && !signal.aborted; left = until - performance.now()) {
      const wait = Math.min(Math.ceil(left), JOB_WAIT_MS);
      const { envelope } = await get<FoundJob>("job", { job_id, wait }, { ...asOwner(owner), signal });
      if (envelope) return;
    }
  },
  async result(owner, job_id) {
    const { envelope, text } = await get<FoundJob>("job", { job_id, wait: 0 }, asOwner(owner));
    return envelope && { ...envelope, ...(text !== undefined && { text }) };
  },
  cancel: (owner, job_id) => get("cancel", { job_id }, asOwner(owner)),
});

interface FoundJob {
  readonly envelope?: Envelope;
  readonly text?: string;
}

const toTurns = (get: Get): HostTurns => ({
  async open({ onBegin, ...wanted }) {
    const turn = randomUUID();
    const { is_open } = await get<{ is_open: boolean }>("open_turn", { turn, ...wanted });
    if (!is_open) return undefined;
    // A host that was restarted has ended the turn; a log that cannot be written ends the run itself.
    const begun = get<{ id: number | null }>("turn_begun", { turn })
      .then(({ id }) => (id === null ? undefined : onBegin(id)))
      .catch(() => {});
    return {
      async end() {
        await get("end_turn", { turn }).catch(() => {});
        await begun;
      },
    };
  },
  list: async (filter = {}) =>
    (await get<{ turns: readonly Turn[] }>("turns", withoutUndefined(filter))).turns,
  async plan(turn, direction) {
    const { plan_id, facts } = await get<{ plan_id: string; facts: PlannedUndo }>("plan", {
      turn,
      direction,
    });
    return {
      ...facts,
      diff: async (options) => (await get<{ diff: string }>("diff", { plan_id, ...options })).diff,
      apply: ({ overwrite }) => get("apply", { plan_id, overwrite }),
    };
  },
});

const withoutUndefined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/**
 * Keeps a place open until it is closed: the request that opens it runs as long as the place exists, and is sent again
 * when the server was restarted.
 */
function holdPlace(options: RemoteHostOptions, action: string, input: object) {
  const { dispatch, onRestart, waitMs = MAX_WAIT_MS } = options;
  const stop = new AbortController();
  const { signal } = stop;
  let epoch = Promise.withResolvers<string>();
  let known: string | undefined;
  const onProgress = ({ message = "" }: Progress) => {
    if (known !== undefined && known !== message) {
      epoch = Promise.withResolvers();
      onRestart();
    }
    known = message;
    epoch.resolve(message);
  };
  const run = async () => {
    while (!signal.aborted) {
      const { envelope } = await dispatch(
        { tool: HOST, action, input },
        { caller: LOCAL_CALLER, signal, onProgress },
      );
      if (signal.aborted) return;
      const { code = "UPSTREAM_ERROR", message = "the host closed the place" } = envelope.error ?? {};
      const failure = new ToolError(code, message, {});
      // A failure of the first attempt reaches the caller; later the host may come back.
      if (known === undefined) throw failure;
      // Calls need not wait for what no retry helps, such as a full disk.
      if (!ERRORS[code].retry) {
        epoch.promise.catch(() => {});
        epoch.reject(failure);
      }
      epoch = Promise.withResolvers();
      await sleep(RETRY_MS, undefined, { signal, ref: false });
    }
  };
  const ended = run().catch((cause: unknown) => {
    // Nobody may wait for it, such as when the place is closed while the host is away.
    epoch.promise.catch(() => {});
    epoch.reject(cause);
  });
  return {
    /** Rejects when it fails; the connection knows how long a server may take to start. */
    first: () => epoch.promise,
    /** The current epoch; waits for a host that is being restarted. */
    async opened(given?: AbortSignal): Promise<string> {
      const late = sleep(waitMs, undefined, { signal: given, ref: false }).then(() => {
        throw new ToolError("UPSTREAM_ERROR", "the host does not answer; it may be restarted soon", {});
      });
      late.catch(() => {});
      return Promise.race([epoch.promise, late]);
    },
    async close(): Promise<void> {
      stop.abort();
      await ended;
    },
  };
}
