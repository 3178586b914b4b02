import type { Clock } from "../clock.ts";
import { ToolError } from "../errors.ts";
import { newHandle } from "../ids.ts";
import type { Progress } from "../tool.ts";
import { createTopic } from "../topic.ts";
import { checkAnswer, orRefused } from "./check-answer.ts";
import { fieldsOf } from "./form.ts";
import {
  type Ask,
  choicesOf,
  type Question,
  type QuestionAnswer,
  type QuestionBody,
  type QuestionOutcome,
  QuestionSettled,
} from "./question.ts";

const DEFAULT_TIMEOUT_MS = 5 * 60_000;
/** A client follows the job that it started at once, or after it has connected again. */
const FOLLOW_MS = 15_000;
const MAX_WAITING = 100;
/** One caller must not crowd out the others. */
const MAX_WAITING_OF_ONE = 20;
const POLL_MS = 2_000;
/** Waiting is not progress: all of it counts less than the first step of the work. */
const PROGRESS_OF_WAITING = 0.001;

export type QuestionEvent =
  | { readonly type: "asked"; readonly question: Question }
  | ({ readonly type: "answered"; readonly question_id: string } & QuestionAnswer)
  /** Its call was cancelled, or nobody answered. */
  | { readonly type: "withdrawn"; readonly question_id: string };

export interface AskOptions {
  /** That of the process that asks, where this one only passes the question on; a new one when absent. */
  readonly question_id?: string;
  readonly action: string;
  /** The id of the caller. */
  readonly caller: string;
  readonly job_id?: string | undefined;
  /** The front end of the call itself. */
  readonly front?: Ask | undefined;
  readonly signal: AbortSignal;
  /** Notifies the waiting caller that the question is still open. */
  readonly progress?: (update: Progress) => void;
  /** Whether an answer to another question covers this one too. */
  readonly isCovered?: (() => boolean) | undefined;
  /** Applies an answer before other questions are considered: it may cover them. */
  readonly take?: ((answer: QuestionAnswer) => Promise<void> | void) | undefined;
}

/** A place that shows every question that matches, such as a client that follows a job. */
export interface Follower {
  matches(question: Question): boolean;
  readonly ask: Ask;
}

export type Questions = ReturnType<typeof createQuestions>;

interface Waiting extends PromiseWithResolvers<QuestionOutcome> {
  question: Question;
  readonly options: AskOptions;
  /** Aborts when the question is settled. */
  readonly over: AbortController;
  /** The front end of its call shows it. */
  isFronted: boolean;
  isOpen: boolean;
  timer?: AbortController;
}

/**
 * The questions that wait for a person. Each is shown by the front end of its call, and can be answered at every other
 * place at the same time: the first answer counts, and all views are closed.
 */
export function createQuestions({ clock = STOPPED, timeoutMs = DEFAULT_TIMEOUT_MS }: QuestionsOptions = {}) {
  const waiting = new Map<string, Waiting>();
  const places = new Set<() => boolean>();
  const followers = new Map<Follower, AbortSignal>();
  const events = createTopic<QuestionEvent>({ now: clock.now });

  const isFollowed = ({ question }: Waiting) => followers.keys().some((one) => one.matches(question));
  const isAttended = () => places.values().some((attends) => attends());
  const find = (id: string) => {
    const one = waiting.get(id);
    return one?.isOpen ? one : undefined;
  };
  const settle = (one: Waiting, outcome: QuestionOutcome) => {
    // Removed at once, so that a second answer is rejected.
    if (waiting.delete(one.question.question_id)) one.resolve(outcome);
  };
  const fail = (one: Waiting, cause: unknown) => {
    if (waiting.delete(one.question.question_id)) one.reject(cause);
  };

  const tell = async (one: Waiting, expires_at: string, over: AbortSignal) => {
    for (let waited = 0; !over.aborted; waited += POLL_MS) {
      if (one.options.isCovered?.()) return settle(one, COVERED);
      const progress = (PROGRESS_OF_WAITING * waited) / timeoutMs;
      one.options.progress?.({ progress, message: `waits for an approval until ${expires_at}` });
      await clock.sleep(POLL_MS, over);
    }
  };
  const giveUpAfter = (one: Waiting, ms: number, outcome: QuestionOutcome) => {
    const timer = new AbortController();
    one.timer?.abort();
    one.timer = timer;
    const until = AbortSignal.any([timer.signal, one.over.signal]);
    void clock.sleep(ms, until).then(() => {
      if (!until.aborted && !one.isFronted && !isFollowed(one)) settle(one, outcome);
    });
    return until;
  };
  const isFull = ({ question: { caller } }: Waiting) => {
    const others = [...waiting.values()].filter(({ question }) => question.expires_at !== null);
    return (
      others.length >= MAX_WAITING ||
      others.filter(({ question }) => question.caller === caller).length >= MAX_WAITING_OF_ONE
    );
  };
  /** How long a question waits that no front end shows. */
  const waitElsewhere = (one: Waiting) => {
    if (!waiting.has(one.question.question_id) || one.isFronted || isFollowed(one)) return;
    const { expires_at, job_id } = one.question;
    // Its caller knows this time. A console that was restarted, or `octant answer`, may still answer until then.
    if (expires_at !== null && Date.parse(expires_at) > clock.now()) return;
    if (!isAttended()) {
      if (job_id === undefined) settle(one, UNATTENDED);
      else giveUpAfter(one, FOLLOW_MS, UNATTENDED);
    } else if (expires_at === null && isFull(one)) settle(one, TOO_MANY);
    else expire(one);
  };
  const expire = (one: Waiting) => {
    const expires_at = toTime(clock.now() + timeoutMs);
    one.question = { ...one.question, expires_at };
    void tell(one, expires_at, giveUpAfter(one, timeoutMs, unanswered(timeoutMs)));
  };
  const show = async (one: Waiting, ask: Ask, left?: AbortSignal): Promise<void> => {
    try {
      const signal = left ? AbortSignal.any([one.over.signal, left]) : one.over.signal;
      const answer = await ask(one.question, signal);
      if (answer?.answer === "unattended") settle(one, answer);
      else if (answer) settle(one, orRefused(one.question, answer));
    } catch (cause) {
      // A client that lost its connection may follow the job again.
      if (!left?.aborted) fail(one, cause);
    }
  };
  const open = (one: Waiting) => {
    if (!waiting.has(one.question.question_id)) return;
    one.isOpen = true;
    events.publish({ type: "asked", question: one.question });
    for (const [follower, left] of followers)
      if (follower.matches(one.question)) void show(one, follower.ask, left);
  };
  const close = (one: Waiting, reason: unknown) => {
    one.over.abort(reason);
    if (one.isOpen) {
      const { question_id } = one.question;
      const outcome = reason instanceof QuestionSettled ? reason.outcome : UNATTENDED;
      events.publish(
        outcome.answer === "unattended"
          ? { type: "withdrawn", question_id }
          : { type: "answered", question_id, ...outcome },
      );
    }
    for (const other of [...waiting.values()]) if (other.options.isCovered?.()) settle(other, COVERED);
  };
  const showHere = async (one: Waiting, front: Ask | undefined) => {
    one.isFronted = front !== undefined;
    if (front)
      void show(one, front).then(() => {
        one.isFronted = false;
        waitElsewhere(one);
      });
    else waitElsewhere(one);
    // A front end that cannot ask, or ends the call, says so at once: others then never see the question.
    if (front) await new Promise((resolve) => setImmediate(resolve));
    open(one);
  };

  return {
    /** Resolves with the outcome, when it has taken effect; rejects when the signal aborts. */
    async ask(body: QuestionBody, options: AskOptions): Promise<QuestionOutcome> {
      const { signal, isCovered, take } = options;
      signal.throwIfAborted();
      if (isCovered?.()) return COVERED;
      // Throws for one that nobody could fill in.
      if (body.kind === "form") fieldsOf(body.schema);
      const question = toQuestion(body, options, clock.now());
      const one: Waiting = {
        ...Promise.withResolvers<QuestionOutcome>(),
        question,
        options,
        over: new AbortController(),
        isFronted: false,
        isOpen: false,
      };
      waiting.set(question.question_id, one);
      const stop = () => fail(one, signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      void showHere(one, options.front);
      let reason: unknown = signal.reason;
      try {
        const outcome = await one.promise;
        if (outcome.answer !== "unattended" && outcome !== COVERED) await take?.(outcome);
        reason = new QuestionSettled(outcome);
        return outcome;
      } catch (cause) {
        reason = cause;
        throw cause;
      } finally {
        signal.removeEventListener("abort", stop);
        close(one, reason);
      }
    },
    /** Oldest first. */
    list: (): readonly Question[] =>
      [...waiting.values()].filter(({ isOpen }) => isOpen).map(({ question }) => question),
    /** NOT_FOUND when it is no longer waiting; INVALID_ARGUMENT as of `checkAnswer`. */
    answer(question_id: string, answer: QuestionAnswer): void {
      const one = find(question_id);
      if (!one) throw notWaiting(question_id);
      settle(one, checkAnswer(one.question, answer));
    },
    events,
    /**
     * Adds a place where people answer; `attends` returns whether someone can answer there now. When it is removed,
     * the waiting questions stay until they expire; new ones need another place.
     */
    attend(attends: () => boolean): () => void {
      // A new function, so that each call adds a distinct place.
      const place = () => attends();
      places.add(place);
      return () => void places.delete(place);
    },
    /** Ends the wait of all questions that no front end shows, such as when their server closes. */
    giveUp(): void {
      for (const one of [...waiting.values()])
        if (!one.isFronted && !isFollowed(one)) settle(one, UNATTENDED);
    },
    /** Shows the questions that match, those that wait included, until the returned function is called. */
    follow(follower: Follower): () => void {
      const left = new AbortController();
      followers.set(follower, left.signal);
      const matching = () => [...waiting.values()].filter(({ question }) => follower.matches(question));
      for (const one of matching()) if (one.isOpen) void show(one, follower.ask, left.signal);
      return () => {
        followers.delete(follower);
        left.abort();
        for (const one of matching()) waitElsewhere(one);
      };
    },
  };
}

export interface QuestionsOptions {
  /** Without it nothing times out. */
  readonly clock?: Clock;
  /** How long a question waits that the front end of its call cannot show. */
  readonly timeoutMs?: number | undefined;
}

/** Core has no clock. */
const STOPPED: Clock = { now: () => 0, sleep: () => new Promise(() => {}) };

const COVERED: QuestionAnswer = { answer: "once" };
const UNATTENDED: QuestionOutcome = { answer: "unattended" };
const TOO_MANY: QuestionOutcome = {
  answer: "unattended",
  reason: "too many calls wait for an answer already, so call again when some are answered",
};
const unanswered = (timeoutMs: number): QuestionOutcome => ({
  answer: "unattended",
  reason: `no answer within ${timeoutMs / 1_000} s; call again when a person can answer`,
});

const toTime = (ms: number) => new Date(ms).toISOString();

const toQuestion = (
  body: QuestionBody,
  { question_id, action, caller, job_id }: AskOptions,
  now: number,
): Question => ({
  action,
  ...body,
  question_id: question_id ?? newHandle("question", now),
  caller,
  ...(job_id !== undefined && { job_id }),
  choices: choicesOf(body),
  asked_at: toTime(now),
  expires_at: null,
});

function notWaiting(id: string): ToolError {
  const message = "no such question is waiting; it was answered, it expired, or its call was cancelled";
  return new ToolError("NOT_FOUND", message, { id });
}
