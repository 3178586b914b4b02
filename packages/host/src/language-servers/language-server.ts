import { createTopic } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import type { Path } from "../path.ts";
import { inTime, LateError, orAborted } from "../waits.ts";
import { createDocuments, type Documents } from "./documents.ts";
import { residentBytesOf, type ServerProcess } from "./server-process.ts";
import { openSession, type Patience, type Session } from "./session.ts";
import { ServerSilent, ServerUnavailable } from "./unavailable.ts";

/** A server that shakes hands and what it knows of the files. */
export interface Running extends Session {
  readonly documents: Documents;
  readonly pid: number;
}

export interface LanguageServerLimits extends Patience {
  /** How long the first callers wait for it to start; it continues to start for later ones. */
  readonly startMs: number;
  readonly maxMemoryBytes: number;
  readonly idleMs: number;
  /** How often memory and idleness are looked at. */
  readonly lookMs: number;
  /** After that many deaths it is left alone for `circuitMs`. */
  readonly maxDeaths: number;
  readonly circuitMs: number;
}

export const SERVER_LIMITS: LanguageServerLimits = {
  startMs: 20_000,
  firstAnswerMs: 25_000,
  answerMs: 5_000,
  maxMemoryBytes: 2 * 1024 ** 3,
  idleMs: 15 * 60_000,
  lookMs: 10_000,
  maxDeaths: 5,
  circuitMs: 5 * 60_000,
};
/** A server that has run so long has not died of how it was started. */
const HEALTHY_MS = 10 * 60_000;

export interface LanguageServerOptions {
  readonly name: string;
  readonly root: Path;
  readonly confinement: Confinement;
  readonly limits: LanguageServerLimits;
  readonly initializationOptions?: unknown;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly listed?: RegExp;
  start(): Promise<ServerProcess>;
  log(line: string): void;
}

export type LanguageServer = ReturnType<typeof createLanguageServer>;

/** One server of one language for one root: started when it is needed, again when it has died, but not forever. */
export function createLanguageServer(options: LanguageServerOptions) {
  const { name, root, confinement, limits, initializationOptions, settings, listed, start, log } = options;
  let current: Promise<Running> | undefined;
  let launchedAt = 0;
  const work = createTopic<string>({ maxEvents: 0 });
  let up: Running | undefined;
  let deaths = 0;
  let lastDeath = 0;
  let lastReason = "";
  let lastUse = 0;
  let inUse = 0;
  let leaving: Promise<void> = Promise.resolve();
  const closed = new AbortController();

  const died = (why: string) => {
    deaths++;
    lastReason = why;
    lastDeath = performance.now();
    log(`${name} has ended (${why}), ${deaths} of ${limits.maxDeaths} times`);
  };
  const onWork = (message: string) => void work.publish(`${name}: ${message}`);
  const shutDown = (running: Running) => {
    if (up !== running) return;
    up = undefined;
    current = undefined;
    leaving = Promise.all([leaving, running.close()]).then(() => {});
  };

  /** Every failure counts as a death, which bounds the retries. */
  const open = async (): Promise<{ process: ServerProcess; session: Session }> => {
    let process: ServerProcess | undefined;
    try {
      process = await start();
      const session = await openSession({
        process,
        name,
        root,
        initializationOptions,
        settings,
        listed,
        signal: closed.signal,
        patience: limits,
        onWork,
      });
      return { process, session };
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      died(why);
      await process?.ending()();
      throw new ServerUnavailable(`${name} could not be started: ${why}`, { cause });
    }
  };
  const launch = async (): Promise<Running> => {
    await leaving;
    if (closed.signal.aborted) throw new ServerUnavailable(`${name} is closed`);
    const { process, session } = await open();
    const born = performance.now();
    const { pid } = process;
    const running: Running = { ...session, documents: createDocuments(confinement, session), pid };
    up = running;
    void process.exited.then((how) => {
      if (up !== running) return;
      if (performance.now() - born > HEALTHY_MS) deaths = 0;
      died(how);
      shutDown(running);
    });
    look(running);
    return running;
  };
  /** Continues as long as the server runs, without keeping the process alive. */
  const look = (running: Running) => {
    setTimeout(() => {
      if (up !== running) return;
      const memory = residentBytesOf(running.pid);
      if (memory > limits.maxMemoryBytes) {
        died(`it held ${memory} bytes, more than the ${limits.maxMemoryBytes} that it may`);
        return shutDown(running);
      }
      if (inUse === 0 && performance.now() - lastUse > limits.idleMs) return shutDown(running);
      look(running);
    }, limits.lookMs).unref();
  };

  const obtain = async (signal: AbortSignal): Promise<Running> => {
    signal.throwIfAborted();
    if (up) return up;
    if (closed.signal.aborted) throw new ServerUnavailable(`${name} is closed`);
    if (isOpenCircuit()) throw new ServerUnavailable(circuitText());
    if (!current) {
      launchedAt = performance.now();
      current = launch().catch((cause: unknown) => {
        current = undefined;
        throw cause;
      });
    }
    onWork("starting");
    return started(current, signal);
  };
  const started = async (starting: Promise<Running>, signal: AbortSignal): Promise<Running> => {
    const left = Math.max(0, launchedAt + limits.startMs - performance.now());
    try {
      // The wait ends with the caller's signal; the work continues for the next caller.
      return await orAborted(inTime(starting, left), signal);
    } catch (cause) {
      if (!(cause instanceof LateError)) throw cause;
      throw new ServerSilent(`${name} has not started within ${limits.startMs} ms`);
    }
  };
  const isOpenCircuit = () => {
    if (deaths < limits.maxDeaths) return false;
    if (performance.now() - lastDeath < limits.circuitMs) return true;
    // One more chance; another death closes the door again.
    deaths = limits.maxDeaths - 1;
    return false;
  };
  const circuitText = () =>
    `${name} has died ${deaths} times and is left alone for ${Math.round(limits.circuitMs / 60_000)} minutes`;

  return {
    name,
    root,
    /** Starts it where it does not run; ServerUnavailable when it cannot be had. */
    async use<T>(work: (running: Running) => Promise<T>, signal: AbortSignal): Promise<T> {
      inUse++;
      try {
        const running = await obtain(signal);
        try {
          return await work(running);
        } catch (cause) {
          if (!(cause instanceof ServerUnavailable) || !running.isOver()) throw cause;
          // It has died in the middle of this, and its exit may not be known yet. A new one is asked once.
          if (up === running) died(cause.message);
          shutDown(running);
          if (cause instanceof ServerSilent) throw cause;
          return await work(await obtain(signal));
        }
      } finally {
        inUse--;
        lastUse = performance.now();
      }
    },
    /** Only when it runs already. */
    running: () => up,
    /** Reports what it does while it starts and reads the project, until the returned function is called. */
    onWork: (listener: (message: string) => void) => work.listen(({ value }) => listener(value)),
    /** null: its state can no longer be trusted. */
    changed(paths: readonly Path[] | null) {
      if (!up) return;
      if (paths === null) shutDown(up);
      else up.documents.changed(paths);
    },
    /** In a few words for a person. */
    state() {
      if (up) return `runs, ${Math.round(residentBytesOf(up.pid) / 1024 ** 2)} MiB`;
      if (deaths >= limits.maxDeaths) return `${circuitText()}: ${lastReason}`;
      if (current) return "starts";
      return deaths > 0 ? `has died: ${lastReason}` : "is started when it is needed";
    },
    async close() {
      closed.abort();
      const last = await current?.catch(() => undefined);
      if (last) shutDown(last);
      await leaving;
    },
  };
}
