import { join } from "node:path";
import { ownerOf } from "@octant/core";
import {
  isVisible,
  type ListFilter,
  type MemoryFilter,
  type MemoryIndex,
  type MemoryItem,
  type MemoryStore,
  OF_PROJECT,
  type Scope,
  textOf,
} from "./memory-store.ts";

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS memories (
    id INTEGER PRIMARY KEY, memory_id TEXT UNIQUE NOT NULL, scope TEXT NOT NULL, owner TEXT NOT NULL,
    kind TEXT NOT NULL, updated_at TEXT NOT NULL, item TEXT NOT NULL, vector BLOB NOT NULL
  );
  CREATE TABLE IF NOT EXISTS memory_vectors (id INTEGER PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL);
  CREATE VIRTUAL TABLE IF NOT EXISTS memory_terms USING fts5(terms, tokenize = 'unicode61');
`;

const MAX_MATCHES = 200;

/**
 * Memories in SQLite with their terms and vectors; without a folder they end with the process. A session memory
 * belongs to its caller.
 */
export async function openMemoryStore(index: MemoryIndex, folder?: string): Promise<MemoryStore> {
  const { DatabaseSync } = await import("node:sqlite");
  const file = folder === undefined ? ":memory:" : join(folder, "memory.sqlite");
  const database = new DatabaseSync(file, { timeout: 10_000 });
  database.exec(SCHEMA);
  const where = ({ scopes, owner, kind }: MemoryFilter & Pick<ListFilter, "kind">) => ({
    sql: `scope IN (${scopes.map(() => "?").join(", ")}) AND ${visibleTo(owner)}${kind ? " AND kind = ?" : ""}`,
    values: [...scopes, owner, ...(kind ? [kind] : [])],
  });
  let loaded: { readonly version: string; readonly rows: readonly ReturnType<typeof toLoaded>[] } | undefined;
  /** Cached until any process changes it: loading 10,000 vectors takes longer than the search. */
  const load = (model = "") => {
    const version = `${database.prepare("PRAGMA data_version").get()?.["data_version"]} ${model}`;
    if (loaded?.version !== version) {
      const rows = model
        ? database
            .prepare(
              `SELECT id, scope, owner, memory_vectors.vector AS vector FROM memories JOIN memory_vectors USING (id)
               WHERE model = ?`,
            )
            .all(model)
        : database.prepare("SELECT id, scope, owner, vector FROM memories").all();
      loaded = { version, rows: rows.map(toLoaded) };
    }
    return loaded.rows;
  };
  const idOf = (memory_id: string, owner: string) =>
    database
      .prepare(`SELECT id, item FROM memories WHERE memory_id = ? AND ${visibleTo(owner)}`)
      .get(memory_id, owner);
  /** All or nothing. */
  const change = (run: () => void) => {
    loaded = undefined;
    database.exec("BEGIN IMMEDIATE");
    try {
      run();
      database.exec("COMMIT");
    } catch (cause) {
      database.exec("ROLLBACK");
      throw cause;
    }
  };
  const forget = (id: number) => {
    database.prepare("DELETE FROM memory_terms WHERE rowid = ?").run(id);
    database.prepare("DELETE FROM memory_vectors WHERE id = ?").run(id);
  };

  return {
    async put(item, owner) {
      const { terms, vector } = index(textOf(item));
      change(() => {
        const known = idOf(item.memory_id, owner);
        if (known) forget(Number(known["id"]));
        const { memory_id, scope, kind, updated_at } = item;
        const { id } = database
          .prepare(
            `INSERT INTO memories (memory_id, scope, owner, kind, updated_at, item, vector) VALUES (?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (memory_id) DO UPDATE SET kind = excluded.kind, updated_at = excluded.updated_at,
               item = excluded.item, vector = excluded.vector RETURNING id`,
          )
          .get(
            memory_id,
            scope,
            owner,
            kind,
            updated_at,
            JSON.stringify(item),
            new Uint8Array(vector.buffer),
          ) ?? { id: 0 };
        database
          .prepare("INSERT INTO memory_terms (rowid, terms) VALUES (?, ?)")
          .run(Number(id), terms.join(" "));
      });
    },
    async get(memory_id, owner) {
      const row = idOf(memory_id, owner);
      return row && toItem(row);
    },
    async remove(memory_id, owner) {
      const row = idOf(memory_id, owner);
      if (!row) return false;
      const id = Number(row["id"]);
      change(() => {
        forget(id);
        database.prepare("DELETE FROM memories WHERE id = ?").run(id);
      });
      return true;
    },
    async list(filter) {
      const { sql, values } = where(filter);
      return database
        .prepare(`SELECT item FROM memories WHERE ${sql} ORDER BY updated_at DESC, id DESC LIMIT ?`)
        .all(...values, filter.limit)
        .map(toItem);
    },
    async match(terms, filter) {
      const { sql, values } = where(filter);
      const from = `FROM memory_terms JOIN memories ON memories.id = memory_terms.rowid
        WHERE memory_terms MATCH ? AND ${sql}`;
      const count = database.prepare(`SELECT count(*) AS count ${from}`);
      const rows = database
        .prepare(`SELECT memories.id AS id, terms ${from} ORDER BY bm25(memory_terms) LIMIT ?`)
        .all(terms.map(quote).join(" OR "), ...values, MAX_MATCHES);
      return {
        holders: terms.map((term) => Number(count.get(quote(term), ...values)?.["count"])),
        rows: rows.map((row) => ({ id: Number(row["id"]), terms: String(row["terms"]).split(" ") })),
      };
    },
    placed: async ({ scopes, owner }, model) =>
      load(model).filter((row) => scopes.includes(row.scope) && isVisible(row, owner)),
    unplaced: async (model, limit) =>
      database
        .prepare(
          `SELECT id, item FROM memories
           WHERE NOT EXISTS (SELECT 1 FROM memory_vectors WHERE memory_vectors.id = memories.id AND model = ?) LIMIT ?`,
        )
        .all(model, limit)
        .map((row) => ({ id: Number(row["id"]), text: textOf(toItem(row)) })),
    async place(model, vectors) {
      const insert = database.prepare(
        "INSERT OR REPLACE INTO memory_vectors (id, model, vector) VALUES (?, ?, ?)",
      );
      change(() => {
        for (const { id, vector } of vectors) insert.run(id, model, new Uint8Array(vector.slice().buffer));
      });
    },
    async read(id) {
      const row = database.prepare("SELECT item FROM memories WHERE id = ?").get(id);
      return row && toItem(row);
    },
    close: () => database.close(),
  };
}

/** The same in SQL, with the caller as its parameter. */
function visibleTo(caller: string): string {
  const owner = ownerOf(caller);
  // An owner's id has only letters and digits besides the underscore.
  const isShared = owner === undefined ? "owner NOT GLOB 'owner_*'" : `owner GLOB '${owner}*'`;
  return `(owner = ? OR owner = '${OF_PROJECT}' OR (scope <> 'session' AND ${isShared}))`;
}

// put() wrote it.
const toItem = (row: Record<string, unknown>): MemoryItem => JSON.parse(String(row["item"]));

/** Terms contain letters and digits only. */
const quote = (term: string): string => `"${term}"`;

const toLoaded = (row: Record<string, unknown>) => ({
  id: Number(row["id"]),
  // put() wrote it.
  scope: row["scope"] as Scope,
  owner: String(row["owner"]),
  vector:
    row["vector"] instanceof Uint8Array ? new Float32Array(row["vector"].slice().buffer) : new Float32Array(),
});
