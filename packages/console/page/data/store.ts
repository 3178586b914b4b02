import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { AnswerRequest, CallList, ConsoleEvent, Me, OctantProcess, ProcessList } from "../../src/api.ts";
import { type Api, createApi, Failed } from "./api.ts";
import { CallLog } from "./call-log.ts";
import { type Connection, followEvents } from "./event-stream.ts";
import { applyEvent, questionsOf, type WaitingQuestion } from "./roster.ts";

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: "info" | "error";
}

type TopicEvent<T extends ConsoleEvent["topic"]> = Extract<ConsoleEvent, { topic: T }>;

export type Answering = Omit<AnswerRequest, "process" | "question_id">;

/** Everything that the page knows. */
export interface Store {
  readonly api: Api;
  readonly me: ReadonlySignal<Me | undefined>;
  /** undefined until they were read the first time. */
  readonly processes: ReadonlySignal<readonly OctantProcess[] | undefined>;
  /** With those that have ended while this page was open: their calls are still listed. */
  readonly origins: ReadonlySignal<readonly OctantProcess[]>;
  /** The waiting questions, without the ones that this page has answered. */
  readonly questions: ReadonlySignal<readonly WaitingQuestion[]>;
  /** One request per question; rejects when it was not accepted, and then it may be tried again. */
  answer(question: WaitingQuestion, given: Answering): Promise<void>;
  readonly connection: ReadonlySignal<Connection | "signed out">;
  readonly calls: CallLog;
  /** Adds the calls of before this page was opened, once. */
  loadPastCalls(): Promise<void>;
  /** Grows, at most once per frame, when `calls` has changed. */
  readonly callsChanged: ReadonlySignal<number>;
  /** Grows when events were lost: read again what is shown. */
  readonly generation: ReadonlySignal<number>;
  readonly toasts: Signal<readonly Toast[]>;
  /** Now, in steps of a second. */
  readonly now: ReadonlySignal<number>;
  /** Reads the processes again: a new session is known before its first event. */
  refresh(): Promise<void>;
  on<T extends ConsoleEvent["topic"]>(topic: T, listener: (event: TopicEvent<T>) => void): () => void;
  say(text: string, kind?: Toast["kind"]): void;
  /** Shows a failure, unless the request was cancelled. */
  fail(cause: unknown): void;
  signIn(token: string): Promise<void>;
  signOut(): Promise<void>;
}

const TOAST_MS = 6_000;
/** Processes that have ended. */
const MAX_ENDED = 200;

export function createStore(): Store {
  const me = signal<Me | undefined>();
  const processes = signal<readonly OctantProcess[] | undefined>();
  const ended = signal<readonly OctantProcess[]>([]);
  const connection = signal<Connection | "signed out">("connecting");
  const generation = signal(0);
  const callsChanged = signal(0);
  const toasts = signal<readonly Toast[]>([]);
  /** The questions that this page has answered: lists of processes may be older than the answer. */
  const answered = signal<ReadonlySet<string>>(new Set());
  const answering = new Set<string>();
  const now = signal(Date.now());
  const calls = new CallLog();
  const listeners = new Map<string, Set<(event: never) => void>>();
  /** Events that arrive while the lists of processes are read. */
  const arriving = new Set<ConsoleEvent[]>();
  let stream: Disposable | undefined;
  let frame = 0;
  let toastIds = 0;

  const signedOut = () => {
    stream?.[Symbol.dispose]();
    stream = undefined;
    connection.value = "signed out";
  };
  const api = createApi(signedOut);
  const fail = (cause: unknown) => {
    if (cause instanceof DOMException && cause.name === "AbortError") return;
    say(cause instanceof Failed ? cause.message : String(cause), "error");
  };
  const say = (text: string, kind: Toast["kind"] = "info") => {
    const id = ++toastIds;
    toasts.value = [...toasts.value.slice(-2), { id, text, kind }];
    setTimeout(() => {
      toasts.value = toasts.value.filter((toast) => toast.id !== id);
    }, TOAST_MS);
  };
  const setProcesses = (next: readonly OctantProcess[]) => {
    const running = new Set(next.map(({ id }) => id));
    const left = (processes.value ?? []).filter(({ id }) => !running.has(id));
    if (left.length > 0) ended.value = [...ended.value, ...left].slice(-MAX_ENDED);
    processes.value = next;
  };
  const load = async () => {
    const later: ConsoleEvent[] = [];
    arriving.add(later);
    try {
      const list = await api.get<ProcessList>("/processes");
      batch(() => {
        // Events may overtake the list.
        setProcesses(later.filter(({ seq }) => seq > list.seq).reduce(applyEvent, list.processes));
        generation.value++;
      });
    } catch (cause) {
      if (connection.value === "live") fail(cause);
    } finally {
      arriving.delete(later);
    }
  };
  let isPastLoaded = false;
  const loadPastCalls = async () => {
    if (isPastLoaded) return;
    isPastLoaded = true;
    try {
      calls.prepend((await api.get<CallList>("/calls")).calls);
      callsChanged.value++;
    } catch (cause) {
      isPastLoaded = false;
      fail(cause);
    }
  };
  const take = (events: readonly ConsoleEvent[]) =>
    batch(() => {
      let list = processes.value ?? [];
      let hasCalls = false;
      for (const event of events) {
        if (event.topic === "calls") {
          calls.add({ ...event.event, process: event.process });
          hasCalls = true;
        } else if (event.topic === "calls_skipped") {
          calls.skipped += event.event.count;
          hasCalls = true;
        } else {
          list = applyEvent(list, event);
          for (const later of arriving) later.push(event);
        }
        // Listeners are registered per topic, with the type of its events.
        for (const listener of listeners.get(event.topic) ?? [])
          (listener as (event: ConsoleEvent) => void)(event);
      }
      if (processes.value && list !== processes.value) setProcesses(list);
      if (hasCalls && frame === 0)
        frame = requestAnimationFrame(() => {
          frame = 0;
          callsChanged.value++;
        });
    });
  const answer: Store["answer"] = async ({ process, question_id }, given) => {
    if (answering.has(question_id)) return;
    answering.add(question_id);
    try {
      await api.post("/answer", { process, question_id, ...given });
      answered.value = new Set([...answered.value, question_id]);
    } catch (cause) {
      answering.delete(question_id);
      throw cause;
    }
  };
  const open = async () => {
    try {
      me.value = await api.get<Me>("/me");
    } catch (cause) {
      if (connection.peek() === "signed out") return;
      connection.value = "lost";
      if (!(cause instanceof Failed)) throw cause;
      setTimeout(open, TOAST_MS);
      return;
    }
    stream = followEvents({
      onEvents: take,
      onGap: () => void load(),
      onState(state) {
        connection.value = state;
        // A server that started again may not know this page's cookie.
        if (state === "lost") void api.get("/me").catch(() => {});
      },
    });
  };
  setInterval(() => {
    now.value = Date.now();
  }, 1_000);
  void open();

  return {
    api,
    me,
    processes,
    origins: computed(() => [...(processes.value ?? []), ...ended.value]),
    questions: computed(() =>
      questionsOf(processes.value ?? []).filter(({ question_id }) => !answered.value.has(question_id)),
    ),
    answer,
    connection,
    calls,
    loadPastCalls,
    callsChanged,
    generation,
    toasts,
    now,
    refresh: load,
    on(topic, listener) {
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set);
      set.add(listener as (event: never) => void);
      return () => set.delete(listener as (event: never) => void);
    },
    say,
    fail,
    async signIn(token) {
      await api.signIn(token);
      connection.value = "connecting";
      await open();
    },
    async signOut() {
      await api.signOut();
      signedOut();
    },
  };
}
