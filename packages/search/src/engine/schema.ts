import { DatabaseSync } from "node:sqlite";
import { faultOf, removeIndexFile } from "./index-fault.ts";

const SCHEMA_VERSION = 9;
const TABLES = [
  "files",
  "symbols",
  "chunks",
  "open_chunks",
  "blocks",
  "postings",
  "removed",
  "vectors",
  "kept",
] as const;
const SCHEMA = `
  CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, size INTEGER NOT NULL, mtime REAL NOT NULL,
    unparsed INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX files_unparsed ON files (path) WHERE unparsed;
  CREATE TABLE symbols (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, name TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL,
    place TEXT NOT NULL, signature TEXT NOT NULL, doc TEXT
  ) STRICT;
  CREATE INDEX symbols_by_file ON symbols (file);
  CREATE INDEX symbols_by_name ON symbols (name COLLATE NOCASE);
  CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL, symbol INTEGER, first_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX chunks_by_file ON chunks (file);
  CREATE TABLE open_chunks (
    chunk INTEGER PRIMARY KEY, file INTEGER NOT NULL, traits INTEGER NOT NULL, terms TEXT NOT NULL, packed BLOB NOT NULL
  ) STRICT;
  CREATE TABLE blocks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, ids BLOB NOT NULL, files BLOB NOT NULL, traits BLOB NOT NULL,
    scales BLOB NOT NULL, vectors BLOB NOT NULL
  ) STRICT;
  CREATE TABLE postings (
    term TEXT NOT NULL, block INTEGER NOT NULL, entries BLOB NOT NULL, PRIMARY KEY (term, block)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE removed (chunk INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE vectors (chunk INTEGER PRIMARY KEY, scale REAL NOT NULL, vector BLOB NOT NULL) STRICT;
  CREATE TABLE kept (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/**
 * Opens the index on disk. A damaged index, or one written by another version, is deleted and rebuilt: it
 * contains nothing that cannot be derived from the files.
 */
export function openIndexFile(file: string): DatabaseSync {
  try {
    return openWith(file);
  } catch (cause) {
    if (faultOf(cause) !== "damaged") throw cause;
    removeIndexFile(file);
    return openWith(file);
  }
}

function openWith(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  try {
    // After a power cut lost rows can be read from the files again, so writes need no fsync.
    db.exec(`PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
      PRAGMA secure_delete = ON;
      PRAGMA cache_size = -8000; PRAGMA journal_size_limit = 16777216;`);
    if (versionOf(db) !== SCHEMA_VERSION) create(db);
    return db;
  } catch (cause) {
    db.close();
    throw cause;
  }
}

/** Another server may be creating the tables too; the second one finds them done. */
function create(db: DatabaseSync): void {
  db.exec("BEGIN IMMEDIATE");
  if (versionOf(db) !== SCHEMA_VERSION) {
    for (const table of TABLES) db.exec(`DROP TABLE IF EXISTS ${table}`);
    db.exec(SCHEMA);
  }
  db.exec("COMMIT");
}

const versionOf = (db: DatabaseSync): number =>
  Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
