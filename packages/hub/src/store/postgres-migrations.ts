import { ToolError } from "@octant/core";
import type { TransactionSql } from "postgres";
import type { PostgresConnection } from "./postgres-connection.ts";

/** Released migrations never change. Text is compared by bytes, as in SQLite: ids sort by time. */
const MIGRATIONS = [
  `CREATE TABLE octant_hub.records (
     kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
     name text COLLATE "C", created_at text COLLATE "C" NOT NULL, doc text NOT NULL,
     changes uuid[] NOT NULL DEFAULT '{}',
     PRIMARY KEY (kind, id));
   CREATE UNIQUE INDEX record_names ON octant_hub.records (kind, project_id, name) WHERE name IS NOT NULL;
   CREATE INDEX records_by_time ON octant_hub.records (kind, project_id, created_at, id);
   CREATE TABLE octant_hub.events (
     log_id text COLLATE "C" NOT NULL, seq bigint NOT NULL, event text NOT NULL,
     PRIMARY KEY (log_id, seq));
   CREATE TABLE octant_hub.leases (
     name text COLLATE "C" PRIMARY KEY, holder text NOT NULL, until timestamptz NOT NULL);`,
  // A claim outlives its hub, so that a hub that lost it finds out. A hub that does not know the version of the
  // database can write nothing: it would leave out what it does not know.
  `CREATE TABLE octant_hub.identity (id uuid NOT NULL);
   INSERT INTO octant_hub.identity VALUES (gen_random_uuid());
   CREATE TABLE octant_hub.hubs (
     id text COLLATE "C" PRIMARY KEY, about text NOT NULL, until timestamptz NOT NULL);
   CREATE TABLE octant_hub.claims (project_id text COLLATE "C" PRIMARY KEY, hub_id text COLLATE "C");
   CREATE INDEX claims_by_hub ON octant_hub.claims (hub_id);
   CREATE TABLE octant_hub.calls (
     id text COLLATE "C" PRIMARY KEY, to_hub text COLLATE "C" NOT NULL, call text NOT NULL, taken uuid, answer text,
     made_at timestamptz NOT NULL DEFAULT clock_timestamp());
   CREATE INDEX calls_to_hub ON octant_hub.calls (to_hub) WHERE taken IS NULL;
   CREATE FUNCTION octant_hub.refuse_older() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF coalesce(nullif(current_setting('octant_hub.version', true), ''), '0')::integer
         < (SELECT version FROM octant_hub.version) THEN
         RAISE EXCEPTION 'a newer hub has updated the database' USING ERRCODE = 'OCT01';
       END IF;
       RETURN NULL;
     END $$;
   CREATE TRIGGER refuse_older BEFORE INSERT OR UPDATE OR DELETE ON octant_hub.records
     FOR EACH STATEMENT EXECUTE FUNCTION octant_hub.refuse_older();
   CREATE TRIGGER refuse_older BEFORE INSERT OR UPDATE OR DELETE ON octant_hub.events
     FOR EACH STATEMENT EXECUTE FUNCTION octant_hub.refuse_older();
   CREATE TRIGGER refuse_older BEFORE INSERT OR UPDATE OR DELETE ON octant_hub.hubs
     FOR EACH STATEMENT EXECUTE FUNCTION octant_hub.refuse_older();`,
] as const;

/** The version that this hub knows. Its connections announce it, and the database refuses writes of an older one. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Any number that no other program on this database uses for its own lock. */
const MIGRATION_LOCK = 7_236_001;
const LOCK_TIMEOUT = "5s";

/** Brings the database to the current version; of several hubs that start together, one does it. */
export const migrate = ({ run }: PostgresConnection): Promise<void> =>
  run((sql) => sql.begin(updateTables), { mayTakeLong: true });

async function updateTables(tx: TransactionSql): Promise<void> {
  // Rather try again than hold up hubs at work behind a long backup.
  await tx`SET LOCAL lock_timeout = ${tx.unsafe(`'${LOCK_TIMEOUT}'`)}`;
  await tx`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
  await tx`CREATE SCHEMA IF NOT EXISTS octant_hub`;
  await tx`CREATE TABLE IF NOT EXISTS octant_hub.version (version integer NOT NULL)`;
  const [row] = await tx`SELECT version FROM octant_hub.version`;
  const version = Number(row?.["version"] ?? 0);
  if (version > MIGRATIONS.length) throw newer(version);
  for (const migration of MIGRATIONS.slice(version)) await tx.unsafe(migration);
  await tx`DELETE FROM octant_hub.version`;
  await tx`INSERT INTO octant_hub.version VALUES (${MIGRATIONS.length})`;
}

export const newer = (version?: number): ToolError =>
  new ToolError(
    "UNSUPPORTED",
    `the hub's database has ${version === undefined ? "a newer version" : `version ${version}`}, and this hub knows ${MIGRATIONS.length}; update Octant`,
    { what: "a database of a newer hub", how: "update Octant" },
  );
