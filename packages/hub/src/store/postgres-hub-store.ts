import { randomUUID } from "node:crypto";
import { ToolError } from "@octant/core";
import type { ISql, PendingQuery, Row } from "postgres";
import { ProjectLost } from "../peers/peers.ts";
import {
  type DumpRow,
  type EventLog,
  type HubRecord,
  type HubStore,
  type Leases,
  type LoggedEvent,
  OWNED_KINDS,
  type RecordKind,
  type Records,
  refuseFull,
} from "./hub-store.ts";
import {
  codeOf,
  connectToPostgres,
  type PostgresConnection,
  type PostgresOptions,
} from "./postgres-connection.ts";
import { migrate } from "./postgres-migrations.ts";
import { createPeers } from "./postgres-peers.ts";

/** The pool, or one transaction of it. */
type Queries = ISql<Record<never, never>>;

/** The state of hubs that share a PostgreSQL database; any of them may be killed. */
export async function openPostgresHubStore(options: PostgresOptions): Promise<HubStore> {
  const connection = connectToPostgres(options);
  try {
    await migrate(connection);
  } catch (cause) {
    await connection.close();
    throw cause instanceof ToolError ? cause : cannotOpen(cause);
  }
  const hub_id = randomUUID();
  const [identity] = await connection.sql`SELECT id FROM octant_hub.identity`;
  return {
    records: (kind) => createRecords(connection, kind, hub_id),
    events: createEventLog(connection, hub_id),
    peers: createPeers(connection, hub_id, String(identity?.["id"])),
    leases: createLeases(connection),
    dump: () => dump(connection),
    load: (rows) => load(connection, rows),
    close: connection.close,
  };
}

/** A refused password, a certificate that is not trusted, a database that does not exist. */
const cannotOpen = (cause: unknown): ToolError => {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `the hub's database cannot be opened: ${why} (${codeOf(cause)}); check --database`;
  return new ToolError("UPSTREAM_ERROR", message, {}, { cause });
};

/** Records without a project are stored below the empty one, so that their names are unique, too. */
const NO_PROJECT = "";

/**
 * The last changes of a record. An attempt whose answer was lost uses them to find out whether it was committed. (The
 * status of a transaction does not show that: after a crash, PostgreSQL gives the number of a lost one to another.)
 */
const MAX_CHANGES = 32;

/**
 * Whether this hub may write what belongs to a project: nobody has claimed it, or this hub has. The row is locked until
 * the end of the transaction, so that no other hub takes the project over in between.
 */
const mayWrite = (sql: Queries, hub_id: string, project_id: string | PendingQuery<Row[]>) => sql`
  coalesce((SELECT claims.hub_id IS NOT DISTINCT FROM ${hub_id} FROM octant_hub.claims
    WHERE claims.project_id = ${project_id} FOR SHARE), true)`;

const createRecords = <T extends HubRecord>(
  { run }: PostgresConnection,
  kind: RecordKind,
  hub_id: string,
): Records<T> => {
  const isOwned = OWNED_KINDS.has(kind);
  const refuseLost = async (tx: Queries, { project_id = NO_PROJECT }: HubRecord): Promise<void> => {
    if (!isOwned) return;
    const [row] = await tx`SELECT ${mayWrite(tx, hub_id, project_id)} AS may`;
    if (!row?.["may"]) throw new ProjectLost();
  };
  // `add` and `change` are the only writers, so the text is a T.
  const parse = (doc: string): T => JSON.parse(doc) as T;
  const columnsOf = (record: T) => {
    const { id, project_id = NO_PROJECT, name = null, created_at } = record;
    return { kind, id, project_id, name, created_at, doc: JSON.stringify(record) };
  };
  return {
    get: (id) =>
      run(async (sql) => {
        const [row] = await sql`SELECT doc FROM octant_hub.records WHERE kind = ${kind} AND id = ${id}`;
        return row && parse(row["doc"]);
      }),
    list: ({ project_id, id_prefix, limit } = {}) =>
      run(async (sql) => {
        const rows = await sql`
          SELECT doc FROM octant_hub.records
          WHERE kind = ${kind} AND ${project_id === undefined ? sql`true` : sql`project_id = ${project_id}`}
            AND ${id_prefix === undefined ? sql`true` : sql`starts_with(id, ${id_prefix})`}
          ORDER BY created_at DESC, id DESC LIMIT ${limit ?? null}`;
        return rows.map(({ doc }) => parse(doc));
      }),
    add: (record) =>
      run(async (sql, isRetry) => {
        const columns = columnsOf(record);
        const stored = isRetry
          ? await sql`SELECT doc FROM octant_hub.records WHERE kind = ${kind} AND id = ${record.id}`
          : [];
        // The lost attempt stored it.
        if (stored[0]?.["doc"] === columns.doc) return;
        await refuseTakenNames(record, kind, async () => {
          await sql.begin(async (tx) => {
            await refuseLost(tx, record);
            await tx`INSERT INTO octant_hub.records ${tx(columns)}`;
          });
        });
      }),
    async change(id, change) {
      const change_id = randomUUID();
      const { record } = await run((sql) =>
        sql.begin(async (tx): Promise<{ readonly record?: T }> => {
          const [row] = await tx`
            SELECT doc, ${change_id} = ANY(changes) AS is_made FROM octant_hub.records
            WHERE kind = ${kind} AND id = ${id} FOR UPDATE`;
          if (!row) return {};
          const stored = parse(row["doc"]);
          // The lost attempt was committed.
          if (row["is_made"]) return { record: stored };
          await refuseLost(tx, stored);
          const changed = change(stored);
          await refuseTakenNames(changed, kind, async () => {
            await tx`
              UPDATE octant_hub.records SET ${tx(columnsOf(changed))},
                changes = (array_prepend(${change_id}::uuid, changes))[1:${MAX_CHANGES}]
              WHERE kind = ${kind} AND id = ${id}`;
          });
          return { record: changed };
        }),
      );
      return record;
    },
    remove: (id) =>
      run(async (sql, isRetry) => {
        const fence = isOwned ? mayWrite(sql, hub_id, sql`records.project_id`) : sql`true`;
        const { count } = await sql`
          DELETE FROM octant_hub.records WHERE kind = ${kind} AND id = ${id} AND ${fence}`;
        const left = sql`SELECT 1 FROM octant_hub.records WHERE kind = ${kind} AND id = ${id}`;
        if (count === 0 && isOwned && (await left).length > 0) throw new ProjectLost();
        // A lost attempt may have removed it.
        return count > 0 || isRetry;
      }),
  };
};

const DUMP_ROWS = 500;

/** Pages of one snapshot: another transaction's rows are not seen. */
async function* dump({ sql }: PostgresConnection): AsyncGenerator<DumpRow> {
  const tx = await sql.reserve();
  try {
    await tx`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`;
    await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
    const records = tx`SELECT kind, doc FROM octant_hub.records ORDER BY kind, created_at, id`;
    for await (const rows of records.cursor(DUMP_ROWS))
      for (const row of rows) yield { kind: row["kind"], record: JSON.parse(row["doc"]) };
    const events = tx`SELECT log_id, event FROM octant_hub.events ORDER BY log_id, seq`;
    for await (const rows of events.cursor(DUMP_ROWS))
      for (const row of rows) yield { log_id: row["log_id"], event: JSON.parse(row["event"]) };
  } finally {
    await tx`ROLLBACK`;
    tx.release();
  }
}

async function load({ sql }: PostgresConnection, rows: AsyncIterable<DumpRow>): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
    const [found] = await tx`SELECT count(*) AS count FROM octant_hub.records`;
    refuseFull(Number(found?.["count"]));
    for await (const row of rows)
      if ("record" in row) {
        const { id, project_id = NO_PROJECT, name = null, created_at } = row.record;
        const columns = { kind: row.kind, id, project_id, name, created_at, doc: JSON.stringify(row.record) };
        await tx`INSERT INTO octant_hub.records ${tx(columns)}`;
      } else
        await tx`INSERT INTO octant_hub.events
          VALUES (${row.log_id}, ${row.event.seq}, ${JSON.stringify(row.event)})`;
  });
}

const UNIQUE_VIOLATION = "23505";

async function refuseTakenNames(
  { id, name = id }: HubRecord,
  kind: RecordKind,
  write: () => Promise<void>,
): Promise<void> {
  try {
    await write();
  } catch (cause) {
    if (codeOf(cause) !== UNIQUE_VIOLATION) throw cause;
    const message = `there is already a ${kind} named '${name}'; choose another name`;
    throw new ToolError("ALREADY_EXISTS", message, { uri: `${kind}:${name}` }, { cause });
  }
}

/** The payload is the log's id; readers read the events from the table. */
const CHANNEL = "octant_hub_events";

const createEventLog = ({ run, sql: pool }: PostgresConnection, hub_id: string): EventLog => {
  const last = (log_id: string) =>
    run(async (sql) => {
      const [row] = await sql`SELECT max(seq) AS seq FROM octant_hub.events WHERE log_id = ${log_id}`;
      return Number(row?.["seq"] ?? 0);
    });
  return {
    async append(log_id, event) {
      const text = JSON.stringify(event);
      const isStored = await run(async (sql, isRetry) => {
        const stored = isRetry
          ? await sql`SELECT event FROM octant_hub.events WHERE log_id = ${log_id} AND seq = ${event.seq}`
          : [];
        // The lost attempt stored it.
        if (stored[0]?.["event"] === text) return true;
        return insertNext(sql, { log_id, seq: event.seq, text, hub_id });
      });
      if (isStored) return;
      const actual = String((await last(log_id)) + 1);
      const message = `another hub writes to ${log_id}: its next event is number ${actual}, not ${event.seq}`;
      throw new ToolError("CONFLICT", message, { expected: String(event.seq), actual });
    },
    read: (log_id, after, limit) =>
      run(async (sql) => {
        const rows = await sql`
          SELECT event FROM octant_hub.events WHERE log_id = ${log_id} AND seq > ${after}
          ORDER BY seq LIMIT ${limit}`;
        // `append` is the only writer.
        return rows.map((row) => JSON.parse(row["event"]) as LoggedEvent);
      }),
    last,
    ids: () =>
      run(async (sql) =>
        (await sql`SELECT DISTINCT log_id FROM octant_hub.events`).map((row) => String(row["log_id"])),
      ),
    remove: (log_id) =>
      run(async (sql) => void (await sql`DELETE FROM octant_hub.events WHERE log_id = ${log_id}`)),
    async watch(listener) {
      // The second function also runs after a lost connection: notifications in between are lost.
      const { unlisten } = await pool.listen(CHANNEL, listener, () => listener(undefined));
      return { [Symbol.asyncDispose]: unlisten };
    },
  };
};

interface NewEvent {
  readonly log_id: string;
  readonly seq: number;
  readonly text: string;
  readonly hub_id: string;
}

/** False when the number is not the next one. */
async function insertNext(sql: Queries, { log_id, seq, text, hub_id }: NewEvent): Promise<boolean> {
  const project = sql`(SELECT project_id FROM octant_hub.records WHERE kind = 'session' AND id = ${log_id})`;
  try {
    const [row] = await sql`
      WITH fence AS (SELECT ${mayWrite(sql, hub_id, project)} AS may),
      added AS (
        INSERT INTO octant_hub.events SELECT ${log_id}, ${seq}, ${text} FROM fence
        WHERE may AND ${seq} = 1 + (SELECT coalesce(max(seq), 0) FROM octant_hub.events WHERE log_id = ${log_id})
        RETURNING log_id)
      SELECT may, (SELECT count(pg_notify(${CHANNEL}, log_id)) FROM added) AS added FROM fence`;
    if (!row?.["may"]) throw new ProjectLost();
    return Number(row["added"]) > 0;
  } catch (cause) {
    if (codeOf(cause) !== UNIQUE_VIOLATION) throw cause;
    return false;
  }
}

/** By the clock of the database: the clocks of hubs may differ. */
const createLeases = ({ run }: PostgresConnection): Leases => ({
  take: (name, holder, ms) =>
    run(async (sql) => {
      const until = sql`clock_timestamp() + ${ms} * interval '1 millisecond'`;
      const { count } = await sql`
        INSERT INTO octant_hub.leases AS held VALUES (${name}, ${holder}, ${until})
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE held.holder = excluded.holder OR held.until <= clock_timestamp()`;
      return count > 0;
    }),
  release: (name, holder) =>
    run(
      async (sql) =>
        void (await sql`DELETE FROM octant_hub.leases WHERE name = ${name} AND holder = ${holder}`),
    ),
});
