import { type Caller, type ErrorCode, newHandle, ToolError } from "@octant/core";
import type { HubAbout, Peers } from "./peers.ts";

/** Runs a call that another hub passed on. */
export type RunHere = (
  name: string,
  input: unknown,
  ctx: { readonly caller: Caller; readonly signal: AbortSignal },
) => Promise<unknown>;

interface CallText {
  readonly name: string;
  readonly input: unknown;
  readonly caller: Caller;
}
type AnswerText =
  | { readonly data: unknown }
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
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
  };

  return {
    /** The data of a call that runs in another hub; throws what it throws. */
    async pass(to: HubAbout, call: CallText, signal: AbortSignal): Promise<unknown> {
      const id = newHandle("call", Date.now());
      const ended = AbortSignal.any([signal, closing.signal]);
      try {
        let arrived = look(id, ended);
        await peers.send(to.id, { id, text: JSON.stringify(call) });
        for (;;) {
          await arrived;
          if (ended.aborted) await peers.cancel(id);
          signal.throwIfAborted();
          arrived = look(id, ended);
          const isGone = !(await peers.living()).some((one) => one.id === to.id) && canJudge();
          const text = await peers.answerOf(id);
          // The other hub is the only writer.
          if (text !== undefined) return fromAnswer(JSON.parse(text) as AnswerText);
          if (isGone || closing.signal.aborted) throw interrupted(to);
        }
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

async function toAnswer(run: () => Promise<unknown>, onBug: (cause: unknown) => void): Promise<AnswerText> {
  try {
    return { data: (await run()) ?? null };
  } catch (cause) {
    if (cause instanceof ToolError) {
      const { code, message, details } = cause;
      return { code, message, details };
    }
    onBug(cause);
    return { isBug: true };
  }
}

function fromAnswer(answer: AnswerText): unknown {
  if ("data" in answer) return answer.data;
  if ("code" in answer) throw new ToolError(answer.code, answer.message, answer.details);
  throw new Error("the hub that has the project failed; its log says why");
}

const interrupted = ({ where }: HubAbout) =>
  new ToolError(
    "INTERRUPTED",
    `the hub that had the project (${where}) ended during this call; look at what it did before you repeat it`,
    {},
  );
