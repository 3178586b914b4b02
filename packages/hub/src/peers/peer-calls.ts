import { type Caller, type ErrorCode, newHandle, ToolError } from "@octant/core";
import type { HubAbout, Peers } from "./peers.ts";

/** The result of a call that ran in another hub. */
export interface Passed {
  readonly data: unknown;
}

/** Runs a call that another hub passed on; undefined when this hub no longer has the project. */
export type RunHere = (
  name: string,
  input: unknown,
  ctx: { readonly caller: Caller; readonly signal: AbortSignal },
) => Promise<Passed | undefined>;

interface CallText {
  readonly name: string;
  readonly input: unknown;
  readonly caller: Caller;
}
type AnswerText =
  | Passed
  | { readonly isMoved: true }
  | { readonly code: ErrorCode; readonly message: string; readonly details: ToolError["details"] }
  | { readonly isBug: true };

/** How often a caller looks whether the other hub still lives. */
const LOOK_MS = 1_000;

interface PeerCallsOptions {
  readonly peers: Peers;
  readonly runHere: RunHere;
  /** Whether a hub that is not among the living ones must be gone. */
  canJudge(): boolean;
  log(line: string): void;
}

/** Passes calls to the hubs that have their projects, and runs those that arrive. A call runs at most once. */
export async function createPeerCalls({ peers, runHere, canJudge, log }: PeerCallsOptions) {
  const waiting = new Map<string, () => void>();
  const running = new Map<string, AbortController>();
  const closing = new AbortController();
  const work = new Set<Promise<void>>();

  const serve = async ({ id, text }: { readonly id: string; readonly text: string }): Promise<void> => {
    // `pass` is the only writer.
    const { name, input, caller } = JSON.parse(text) as CallText;
    const stop = new AbortController();
    running.set(id, stop);
    try {
      const signal = AbortSignal.any([stop.signal, closing.signal]);
      const answer = await toAnswer(
        () => runHere(name, input, { caller, signal }),
        (cause) => log(`hub: ${name} of another hub failed: ${cause instanceof Error ? cause.stack : cause}`),
      );
      await peers.answer(id, JSON.stringify(answer));
    } finally {
      running.delete(id);
    }
  };
  const takeAll = async (): Promise<void> => {
    if (closing.signal.aborted) return;
    for (const call of await peers.take()) {
      const served: Promise<void> = serve(call)
        .catch((cause: unknown) => log(`hub: a call of another hub cannot be answered: ${cause}`))
        .finally(() => work.delete(served));
      work.add(served);
    }
  };
  const watching = await peers.watch((signal) => {
    if (signal === undefined) for (const look of waiting.values()) look();
    if (signal?.kind === "answer") waiting.get(signal.call_id)?.();
    if (signal?.kind === "cancel") running.get(signal.call_id)?.abort();
    if (signal === undefined || (signal.kind === "call" && signal.hub_id === peers.hub_id))
      takeAll().catch((cause: unknown) => log(`hub: calls of other hubs cannot be read: ${cause}`));
  });
  /** Resolves when an answer may be there, and from time to time. */
  const look = async (id: string, signal: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.set(id, resolve);
    const timer = setTimeout(resolve, LOOK_MS);
    const onAbort = () => resolve();
    signal.addEventListener("abort", onAbort, { once: true });
    await promise;
    signal.removeEventListener("abort", onAbort);
    clearTimeout(timer);
  };

  /** The text of the answer; undefined when the other hub will never run the call. */
  const ask = async (to: HubAbout, id: string, call: CallText, signal: AbortSignal) => {
    const ended = AbortSignal.any([signal, closing.signal]);
    try {
      let arrived = look(id, ended);
      await peers.send(to.id, { id, text: JSON.stringify(call) });
      for (;;) {
        await arrived;
        arrived = look(id, ended);
        const isGone = !(await peers.living()).some((one) => one.id === to.id) && canJudge();
        const text = await peers.answerOf(id);
        if (text !== undefined) {
          peers.withdraw(id).catch((cause: unknown) => log(`hub: an answer cannot be removed: ${cause}`));
          return text;
        }
        if (!isGone && !ended.aborted) continue;
        const isUntaken = await peers.withdraw(id);
        signal.throwIfAborted();
        if (isUntaken && !closing.signal.aborted) return undefined;
        throw interrupted(to, "ended");
      }
    } catch (cause) {
      // The other hub may run the call when the database is back.
      const isAway = cause instanceof ToolError && cause.code === "UPSTREAM_ERROR";
      throw isAway ? interrupted(to, "could not be reached through PostgreSQL") : cause;
    }
  };

  return {
    /** Runs a call in another hub; throws what it throws. undefined when it did not run: the project has moved. */
    async pass(to: HubAbout, call: CallText, signal: AbortSignal): Promise<Passed | undefined> {
      const id = newHandle("call", Date.now());
      try {
        const text = await ask(to, id, call, signal);
        // The other hub is the only writer.
        return text === undefined ? undefined : fromAnswer(JSON.parse(text) as AnswerText);
      } finally {
        waiting.delete(id);
      }
    },
    async close(): Promise<void> {
      closing.abort();
      await Promise.all(work);
      await watching[Symbol.asyncDispose]();
    },
  };
}

async function toAnswer(
  run: () => Promise<Passed | undefined>,
  onBug: (cause: unknown) => void,
): Promise<AnswerText> {
  try {
    const passed = await run();
    return passed ? { data: passed.data ?? null } : { isMoved: true };
  } catch (cause) {
    if (cause instanceof ToolError) {
      const { code, message, details } = cause;
      return { code, message, details };
    }
    onBug(cause);
    return { isBug: true };
  }
}

function fromAnswer(answer: AnswerText): Passed | undefined {
  if ("data" in answer) return answer;
  if ("isMoved" in answer) return undefined;
  if ("code" in answer) throw new ToolError(answer.code, answer.message, answer.details);
  throw new Error("the hub that has the project failed; its log says why");
}

const interrupted = ({ where }: HubAbout, why: string) =>
  new ToolError(
    "INTERRUPTED",
    `the hub that had the project (${where}) ${why} during this call; look at what it did before you repeat it`,
    {},
  );
