import { EventEmitter, once } from "node:events";
import type { Answer, CallOptions, Context, Dispatch } from "@octant/core";

type Ask = NonNullable<CallOptions["ask"]>;
/** The call of a client that answers the questions of one job. */
type Follower = Pick<Context, "ask" | "signal">;

/** What jobs ask the person after their call was answered over a wire. */
export interface LateQuestions {
  /** Passes the questions of the job to the follower, until its signal aborts. */
  follow(job_id: string, follower: Follower): void;
  /** The dispatcher, whose jobs ask their follower once their call was answered. */
  through(dispatch: Dispatch): Dispatch;
}

/** A client follows the job that it started at once, or after it has connected again. */
const FOLLOW_MS = 15_000;

export function createLateQuestions(): LateQuestions {
  const followers = new Map<string, Follower>();
  const arrivals = new EventEmitter();

  /** undefined when nobody follows the job in time. */
  const findFollower = async (job_id: string, signal: AbortSignal): Promise<Follower | undefined> => {
    const found = followers.get(job_id);
    if (found && !found.signal.aborted) return found;
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(FOLLOW_MS)]);
    await once(arrivals, job_id, { signal: inTime }).catch(() => signal.throwIfAborted());
    return followers.get(job_id);
  };
  const ask = async (job_id: string, ...[question, signal]: Parameters<Ask>): Promise<Answer | undefined> => {
    for (;;) {
      const follower = await findFollower(job_id, signal);
      if (!follower) return undefined;
      try {
        return await orAborted(follower.ask(question), signal);
      } catch (cause) {
        signal.throwIfAborted();
        // A client that lost its connection may follow the job again.
        if (!follower.signal.aborted) throw cause;
      }
    }
  };
  return {
    follow(job_id, follower) {
      followers.set(job_id, follower);
      const leave = () => followers.get(job_id) === follower && followers.delete(job_id);
      follower.signal.addEventListener("abort", leave, { once: true });
      arrivals.emit(job_id);
    },
    through: (dispatch) => async (call, options) => {
      const { ask: askCaller, onJob } = options;
      if (!askCaller) return dispatch(call, options);
      let job: string | undefined;
      let isAnswered = false;
      const reply = await dispatch(call, {
        ...options,
        onJob(job_id) {
          job = job_id;
          onJob?.(job_id);
        },
        async ask(question, signal) {
          const answer = await askCaller(question, signal);
          return answer ?? (isAnswered && job !== undefined ? ask(job, question, signal) : undefined);
        },
      });
      isAnswered = true;
      return reply;
    },
  };
}

async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
