import { EventEmitter, once } from "node:events";
import { type Answer, type CallOptions, type Context, type Dispatch, orAborted } from "@octant/core";

type Ask = NonNullable<CallOptions["ask"]>;
/** The call of a client that answers the questions of one job. */
type Follower = Pick<Context, "ask" | "signal">;

/** A client follows the job that it started at once, or after it has connected again. */
const FOLLOW_MS = 15_000;

/** What jobs ask the person after their call was answered over a wire. */
export type LateQuestions = ReturnType<typeof createLateQuestions>;

export function createLateQuestions() {
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
    /** Passes the questions of the job to the follower, until its signal aborts. */
    follow(job_id: string, follower: Follower): void {
      followers.set(job_id, follower);
      const leave = () => followers.get(job_id) === follower && followers.delete(job_id);
      follower.signal.addEventListener("abort", leave, { once: true });
      arrivals.emit(job_id);
    },
    /** The dispatcher, whose jobs ask their follower once their call was answered. */
    through:
      (dispatch: Dispatch): Dispatch =>
      async (call, options) => {
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
