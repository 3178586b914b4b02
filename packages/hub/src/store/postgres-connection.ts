import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createBackoff } from "@octant/agent";
import { ToolError } from "@octant/core";
import postgres, { type Sql } from "postgres";
import { newer, SCHEMA_VERSION } from "./postgres-migrations.ts";
import { parsePostgresUrl } from "./postgres-url.ts";

export interface PostgresOptions {
  /** See `parsePostgresUrl`. */
  readonly url: string;
  /** How long a call waits for a database that is restarting. */
  readonly patienceMs?: number;
  /** How long a query waits on a connection that says nothing. */
  readonly silenceMs?: number;
  log(line: string): void;
}

export type PostgresConnection = ReturnType<typeof connectToPostgres>;

const MAX_CONNECTIONS = 10;
const CONNECT_TIMEOUT_S = 10;
const END_TIMEOUT_S = 5;
const DEFAULT_PATIENCE_MS = 60_000;
/** A connection that the network has dropped says nothing; the system would notice after a quarter of an hour. */
const SILENCE_MS = 15_000;
const LOOKS = 4;
/** A hub that stops within a transaction must not keep its locks: others could not take over its projects. */
const IDLE_IN_TRANSACTION_MS = 5_000;
const BACKOFF = { base_ms: 50, max_ms: 2_000 } as const;

/** A pool of connections that survives a restart of the database. */
export function connectToPostgres(options: PostgresOptions) {
  const { url, patienceMs = DEFAULT_PATIENCE_MS, silenceMs = SILENCE_MS, log } = options;
  const { url: address, host, ssl } = parsePostgresUrl(url);
  const sockets = createSockets();
  const sql = postgres(address, {
    ...(host !== undefined && { host }),
    // A Unix socket has no TLS.
    ssl: host === undefined && ssl,
    max: MAX_CONNECTIONS,
    connect_timeout: CONNECT_TIMEOUT_S,
    ...sockets.options,
    // `run` waits between attempts; the pool's own delays would add to that.
    backoff: () => 0,
    onnotice: () => {},
    // A server whose default is off would lose acknowledged events in a crash.
    connection: {
      application_name: "octant hub",
      synchronous_commit: "on",
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      "octant_hub.version": String(SCHEMA_VERSION),
    },
  });
  /** Cuts the connections that say nothing while a query waits; the driver makes new ones. */
  const watch = (): NodeJS.Timeout => {
    const beganAt = performance.now();
    return setInterval(() => sockets.cutSilent(silenceMs, beganAt), silenceMs / LOOKS);
  };
  return {
    sql,
    /**
     * Runs a query, again after a lost connection. `isRetry` tells it that an earlier attempt may have been committed
     * although its answer was lost. `mayTakeLong`: the server may say nothing for a while.
     */
    async run<R>(
      query: (sql: Sql, isRetry: boolean) => Promise<R>,
      { mayTakeLong = false } = {},
    ): Promise<R> {
      const backoff = createBackoff(BACKOFF);
      const end = performance.now() + patienceMs;
      for (let attempt = 0; ; attempt += 1) {
        const watching = mayTakeLong ? undefined : watch();
        try {
          return await query(sql, attempt > 0);
        } catch (cause) {
          clearInterval(watching);
          if (codeOf(cause) === OLDER) throw newer();
          if (RETRIED.has(codeOf(cause)) && performance.now() < end) {
            await sleep(backoff.next());
            continue;
          }
          if (!isOutage(cause)) throw cause;
          if (performance.now() >= end) throw notUsable(cause);
          if (attempt === 0)
            log(
              `hub: PostgreSQL cannot be used: ${reasonOf(cause)}; trying again for ${patienceMs / 1_000} s`,
            );
          await sleep(backoff.next());
        } finally {
          clearInterval(watching);
        }
      }
    },
    close: () => sql.end({ timeout: END_TIMEOUT_S }),
  };
}

/** The connections of a pool, which can be cut. */
function createSockets() {
  /** With what each has received, as far as was looked: the driver, and TLS above a socket, have its events. */
  const all = new Map<Socket, { bytes: number; at: number }>();
  let attempt = 0;
  /** The driver lets a URL name several servers, of which the next one is tried. */
  const open = ({ path, host, port }: PlaceOfServer): Socket => {
    const at = attempt++ % port.length;
    const to = { host: host[at] ?? "", port: port[at] ?? 0 };
    const socket = connect(path ? { path } : to);
    all.set(socket, { bytes: 0, at: performance.now() });
    // The driver takes the name of the certificate from there.
    return path ? socket : Object.assign(socket, to);
  };
  return {
    // Missing in the driver's types.
    options: { socket: open } as object,
    /** Those that have received nothing for this long, and since this time. */
    cutSilent(ms: number, since: number): void {
      const now = performance.now();
      for (const [socket, heard] of all) {
        if (socket.destroyed) all.delete(socket);
        else if (socket.bytesRead !== heard.bytes) all.set(socket, { bytes: socket.bytesRead, at: now });
        else if (now - Math.max(heard.at, since) > ms)
          socket.destroy(Object.assign(new Error("PostgreSQL said nothing"), { code: "ETIMEDOUT" }));
      }
    },
  };
}

/** The options that the driver has read from the URL. */
interface PlaceOfServer {
  readonly path?: string | false | undefined;
  readonly host: readonly string[];
  readonly port: readonly number[];
}

const notUsable = (cause: unknown): ToolError =>
  new ToolError(
    "UPSTREAM_ERROR",
    `the hub's PostgreSQL cannot be used (${codeOf(cause)}); check that it runs, has room on its disk and free connections, and that the hub's --database is right`,
    {},
    { cause },
  );

/** Of a connection that the driver, TLS or the hub has cut. */
const LOSS_CODES: ReadonlySet<string> = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "ECONNRESET",
  "ETIMEDOUT",
]);
/**
 * Classes of PostgreSQL: connection exceptions, a lack of resources such as connections and disk, a server that starts
 * or stops, and errors of its system. And read_only_sql_transaction: a standby that is not the primary yet.
 */
const OUTAGES = /^(?:08|53|57|58)...$|^25006$/;
/** Raised by the trigger `refuse_older`. */
const OLDER = "OCT01";
/** Nothing was done: deadlock_detected, serialization_failure, lock_not_available. */
const RETRIED: ReadonlySet<string> = new Set(["40P01", "40001", "55P03"]);
/** An error of the system has the name of its call: the name is not found, the machine is not reached. */
const isOutage = (cause: unknown): boolean =>
  "syscall" in Object(cause) || LOSS_CODES.has(codeOf(cause)) || OUTAGES.test(codeOf(cause));

/** Without credentials. Several addresses that were tried have a code and no message. */
const reasonOf = (cause: unknown): string => (cause instanceof Error && cause.message) || codeOf(cause);

export const codeOf = (cause: unknown): string => String(Object(cause).code ?? "");
