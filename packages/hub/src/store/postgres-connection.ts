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
  log(line: string): void;
}

export type PostgresConnection = ReturnType<typeof connectToPostgres>;

const MAX_CONNECTIONS = 10;
const CONNECT_TIMEOUT_S = 10;
const END_TIMEOUT_S = 5;
const DEFAULT_PATIENCE_MS = 60_000;
const BACKOFF = { base_ms: 50, max_ms: 2_000 } as const;

/** A pool of connections that survives a restart of the database. */
export function connectToPostgres({ url, patienceMs = DEFAULT_PATIENCE_MS, log }: PostgresOptions) {
  const { url: address, host, ssl } = parsePostgresUrl(url);
  const sql = postgres(address, {
    ...(host !== undefined && { host }),
    // A Unix socket has no TLS.
    ssl: host === undefined && ssl,
    max: MAX_CONNECTIONS,
    connect_timeout: CONNECT_TIMEOUT_S,
    // `run` waits between attempts; the pool's own delays would add to that.
    backoff: () => 0,
    onnotice: () => {},
    // A server whose default is off would lose acknowledged events in a crash.
    connection: {
      application_name: "octant hub",
      synchronous_commit: "on",
      "octant_hub.version": String(SCHEMA_VERSION),
    },
  });
  return {
    sql,
    /**
     * Runs a query, again after a lost connection. `isRetry` tells it that an earlier attempt may have been committed
     * although its answer was lost.
     */
    async run<R>(query: (sql: Sql, isRetry: boolean) => Promise<R>): Promise<R> {
      const backoff = createBackoff(BACKOFF);
      const end = Date.now() + patienceMs;
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await query(sql, attempt > 0);
        } catch (cause) {
          if (codeOf(cause) === OLDER) throw newer();
          if (RETRIED.has(codeOf(cause)) && Date.now() < end) {
            await sleep(backoff.next());
            continue;
          }
          if (!isConnectionLoss(cause)) throw cause;
          if (Date.now() >= end) throw notReachable(cause);
          if (attempt === 0)
            log(`hub: the connection to PostgreSQL is lost (${codeOf(cause)}); trying again`);
          await sleep(backoff.next());
        }
      }
    },
    close: () => sql.end({ timeout: END_TIMEOUT_S }),
  };
}

const notReachable = (cause: unknown): ToolError =>
  new ToolError(
    "UPSTREAM_ERROR",
    `PostgreSQL cannot be reached (${codeOf(cause)}); check that it runs and that the hub's --database is right`,
    {},
    { cause },
  );

/** Errors of the driver, of the system, and of a server that starts or stops. */
const LOSS_CODES: ReadonlySet<string> = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "EPIPE",
  "ETIMEDOUT",
  // admin_shutdown, crash_shutdown, cannot_connect_now
  "57P01",
  "57P02",
  "57P03",
]);
/** Raised by the trigger `refuse_older`. */
const OLDER = "OCT01";
/** Nothing was done: deadlock_detected, serialization_failure, lock_not_available. */
const RETRIED: ReadonlySet<string> = new Set(["40P01", "40001", "55P03"]);
/** Class 08 of PostgreSQL: connection exceptions. */
const CONNECTION_CLASS = /^08/;

const isConnectionLoss = (cause: unknown): boolean => {
  const code = codeOf(cause);
  return LOSS_CODES.has(code) || CONNECTION_CLASS.test(code);
};

export const codeOf = (cause: unknown): string => String(Object(cause).code ?? "");
