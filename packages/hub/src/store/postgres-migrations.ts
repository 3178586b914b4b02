import { ToolError } from "@octant/core";
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
] as const;

/** Any number that no other program on this database uses for its own lock. */
const MIGRATION_LOCK = 7_236_001;

/** Brings the database to the current version; of several hubs that start together, one does it. */
export const migrate = ({ run }: PostgresConnection): Promise<void> =>
  run((sql) =>
    sql.begin(async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
      await tx`CREATE SCHEMA IF NOT EXISTS octant_hub`;
      await tx`CREATE TABLE IF NOT EXISTS octant_hub.version (version integer NOT NULL)`;
      const [row] = await tx`SELECT version FROM octant_hub.version`;
      const version = Number(row?.["version"] ?? 0);
      if (version > MIGRATIONS.length) throw newer(version);
      for (const migration of MIGRATIONS.slice(version)) await tx.unsafe(migration);
      await tx`DELETE FROM octant_hub.version`;
      await tx`INSERT INTO octant_hub.version VALUES (${MIGRATIONS.length})`;
    }),
  );

const newer = (version: number): ToolError =>
  new ToolError(
    "UNSUPPORTED",
    `the hub's database has version ${version}, and this hub knows ${MIGRATIONS.length}; update Octant`,
    { what: "a database of a newer hub", how: "update Octant" },
  );
