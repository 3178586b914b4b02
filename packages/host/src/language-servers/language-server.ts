import { createTopic, orAborted } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import type { Path } from "../path.ts";
import { inTime, LateError } from "../waits.ts";
import { createDocuments, type Documents } from "./documents.ts";
import { residentBytesOf, type ServerProcess } from "./server-process.ts";
import { openSession, type Patience, type Session } from "./session.ts";
import { ServerSilent, ServerUnavailable } from "./unavailable.ts";

/** A server after its handshake, and the files that it knows. */
export interface Running extends Session {
  readonly documents: Documents;
  readonly pid: number;
}

export interface LanguageServerLimits extends Patience {
  /** How long the first callers wait for it to start; it continues to start for later ones. */
  readonly startMs: number;
  readonly maxMemoryBytes: number;
  readonly idleMs: number;
  /** How often memory and idle time are checked. */
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
/** A server that ran this long did not die because of how it was started. */
const HEALTHY_MS = 10 * 60_000;

export interface LanguageServerOptions {
  readonly name: string;
  readonly root: Path;
  readonly confinement: Confinement;
  readonly limits: LanguageServerLimits;
  readonly initializationOptions?: unknown;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly listed?: RegExp;
  /** The project's missing part without which it cannot understand a file, and how to get it. */
  lacks?(path: Path): string | undefined;
  start(): Promise<ServerProcess>;
  log(line: string): void;
}

/** One server of one language for one root: started when needed, and restarted a limited number of times. */
export class LanguageServer {
  readonly name: string;
  readonly root: Path;
  readonly #options: LanguageServerOptions;
  readonly #closed = new AbortController();
  readonly #work = createTopic<string>({ maxEvents: 0 });
  #starting: Promise<Running> | undefined;
  #startedAt = 0;
  #running: Running | undefined;
  #leaving: Promise<void> = Promise.resolve();
  #deaths = 0;
  #lastDeath = 0;
  #lastReason = "";
  #inUse = 0;
  #lastUse = 0;

  constructor(options: LanguageServerOptions) {
    this.name = options.name;
    this.root = options.root;
    this.#options = options;
  }

  /** Starts it where it does not run; ServerUnavailable when that fails. */
  async use<T>(work: (running: Running) => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#inUse++;
    try {
      const running = await this.#obtain(signal);
      try {
        return await work(running);
      } catch (cause) {
        if (!(cause instanceof ServerUnavailable) || !running.isOver()) throw cause;
        // It died meanwhile, and its exit may not be known yet. A new one is asked once.
        if (this.#running === running) this.#died(cause.message);
        this.#shutDown(running);
        if (cause instanceof ServerSilent) throw cause;
        return await work(await this.#obtain(signal));
      }
    } finally {
      this.#inUse--;
      this.#lastUse = performance.now();
    }
  }

  /** Only when it runs already. */
  get running(): Running | undefined {
    return this.#running;
  }

  lacks(path: Path): string | undefined {
    return this.#options.lacks?.(path);
  }

  /** Why it does not run, if it should. */
  failure(): string | undefined {
    if (this.#running || this.#lastReason === "") return undefined;
    if (this.#deaths >= this.#options.limits.maxDeaths) return this.#circuitText();
    return `${this.name} does not run: ${this.#lastReason}`;
  }

  /** Reports what it does while it starts and reads the project, until the returned function is called. */
  onWork(listener: (message: string) => void): () => void {
    return this.#work.listen(({ value }) => listener(value));
  }

  /** null: its state can no longer be trusted. */
  changed(paths: readonly Path[] | null): void {
    if (!this.#running) return;
    if (paths === null) this.#shutDown(this.#running);
    else this.#running.documents.changed(paths);
  }

  /** In a few words for a person. */
  state(): string {
    if (this.#running) return `runs, ${Math.round(residentBytesOf(this.#running.pid) / 1024 ** 2)} MiB`;
    if (this.#deaths >= this.#options.limits.maxDeaths) return this.#circuitText();
    if (this.#starting) return "starts";
    return this.#deaths > 0 ? `has died: ${this.#lastReason}` : "is started when it is needed";
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const last = await this.#starting?.catch(() => undefined);
    if (last) this.#shutDown(last);
    await this.#leaving;
  }

  async #obtain(signal: AbortSignal): Promise<Running> {
    signal.throwIfAborted();
    if (this.#running) return this.#running;
    if (this.#closed.signal.aborted) throw new ServerUnavailable(`${this.name} is closed`);
    if (this.#isOpenCircuit()) throw new ServerUnavailable(this.#circuitText());
    if (!this.#starting) {
      this.#startedAt = performance.now();
      this.#starting = this.#launch().catch((cause: unknown) => {
        this.#starting = undefined;
        throw cause;
      });
    }
    this.#report("starting");
    return this.#started(this.#starting, signal);
  }

  async #started(starting: Promise<Running>, signal: AbortSignal): Promise<Running> {
    const { startMs } = this.#options.limits;
    const left = Math.max(0, this.#startedAt + startMs - performance.now());
    try {
      // The wait ends with the caller's signal; the start continues for the next caller.
      return await orAborted(inTime(starting, left), signal);
    } catch (cause) {
      if (!(cause instanceof LateError)) throw cause;
      throw new ServerSilent(`${this.name} has not started within ${startMs} ms`);
    }
  }

  async #launch(): Promise<Running> {
    await this.#leaving;
    if (this.#closed.signal.aborted) throw new ServerUnavailable(`${this.name} is closed`);
    const { process, session } = await this.#open();
    const startedAt = performance.now();
    const documents = createDocuments(this.#options.confinement, session);
    const running: Running = { ...session, documents, pid: process.pid };
    this.#running = running;
    void process.exited.then((how) => {
      if (this.#running !== running) return;
      if (performance.now() - startedAt > HEALTHY_MS) this.#deaths = 0;
      this.#died(how);
      this.#shutDown(running);
    });
    this.#look(running);
    return running;
  }

  /** Every failure counts as a death, which bounds the retries. */
  async #open(): Promise<{ process: ServerProcess; session: Session }> {
    const { name, root, initializationOptions, settings, listed, limits, start } = this.#options;
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
        signal: this.#closed.signal,
        patience: limits,
        onWork: (message) => this.#report(message),
      });
      return { process, session };
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      this.#died(why);
      await process?.ending()();
      throw new ServerUnavailable(`${name} could not be started: ${why}`, { cause });
    }
  }

  /** Repeats as long as the server runs, without keeping the process alive. */
  #look(running: Running): void {
    const { maxMemoryBytes, idleMs, lookMs } = this.#options.limits;
    setTimeout(() => {
      if (this.#running !== running) return;
      const memory = residentBytesOf(running.pid);
      if (memory > maxMemoryBytes) {
        this.#died(`it held ${memory} bytes, more than the ${maxMemoryBytes} that it may`);
        return this.#shutDown(running);
      }
      if (this.#inUse === 0 && performance.now() - this.#lastUse > idleMs) return this.#shutDown(running);
      this.#look(running);
    }, lookMs).unref();
  }

  #shutDown(running: Running): void {
    if (this.#running !== running) return;
    this.#running = undefined;
    this.#starting = undefined;
    this.#leaving = Promise.all([this.#leaving, running.close()]).then(() => {});
  }

  #died(why: string): void {
    const { limits, log } = this.#options;
    this.#deaths++;
    this.#lastReason = why;
    this.#lastDeath = performance.now();
    log(`${this.name} has ended (${why}), ${this.#deaths} of ${limits.maxDeaths} times`);
  }

  #isOpenCircuit(): boolean {
    const { maxDeaths, circuitMs } = this.#options.limits;
    if (this.#deaths < maxDeaths) return false;
    if (performance.now() - this.#lastDeath < circuitMs) return true;
    // One more try; another death opens the circuit again.
    this.#deaths = maxDeaths - 1;
    return false;
  }

  #circuitText(): string {
    const minutes = Math.round(this.#options.limits.circuitMs / 60_000);
    return `${this.name} has died ${this.#deaths} times and is left alone for ${minutes} minutes: ${this.#lastReason}`;
  }

  #report(message: string): void {
    this.#work.publish(`${this.name}: ${message}`);
  }
}
