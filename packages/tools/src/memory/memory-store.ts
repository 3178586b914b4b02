import { join } from "node:path";
import { ownerOf } from "@octant/core";
import { loadWordTable, type TermCutter, type WordTable } from "@octant/search";
import { z } from "zod";

export const SCOPES = ["session", "project", "global"] as const;
export type Scope = (typeof SCOPES)[number];

export const MemoryId = z.string().regex(/^mem_[0-9a-z]+$/);

/** A file or symbol that a memory is about, with its state when the memory was written. */
const MemoryLink = z.object({ uri: z.string(), hash: z.string().nullable() });
export type MemoryLink = z.output<typeof MemoryLink>;

export const MemoryItem = z.object({
  memory_id: MemoryId,
  scope: z.enum(SCOPES),
  kind: z.enum(["note", "fact"]),
  text: z.string(),
  tags: z.array(z.string()).readonly(),
  terms: z.array(z.string()).readonly().optional().describe("Words that a later question may use"),
  source: z.string(),
  confidence: z.number(),
  created_at: z.string(),
  updated_at: z.string(),
  links: z.array(MemoryLink).readonly(),
});
export type MemoryItem = z.output<typeof MemoryItem>;

export type MemoryStore = Awaited<ReturnType<typeof openMemoryStore>>;

export interface MemoryFilter {
  readonly scopes: readonly Scope[];
  readonly owner: string;
}

export interface ListFilter extends MemoryFilter {
  readonly kind?: MemoryItem["kind"];
  readonly limit: number;
}

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
export async function openMemoryStore(cut: TermCutter, folder?: string) {
  const { DatabaseSync } = await import("node:sqlite");
  const file = folder === undefined ? ":memory:" : join(folder, "memory.sqlite");
  const database = new DatabaseSync(file, { timeout: 10_000 });
  database.exec(SCHEMA);
  let table: WordTable | undefined;
  const place = (text: string) => {
    table ??= loadWordTable();
    return table.placeChunk({ name: [], container: [], path: [], signature: [], text: cut(text) });
  };
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
    put(item: MemoryItem, owner: string): void {
      const text = textOf(item);
      const vector = new Uint8Array(place(text).buffer);
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
          .get(memory_id, scope, owner, kind, updated_at, JSON.stringify(item), vector) ?? { id: 0 };
        database
          .prepare("INSERT INTO memory_terms (rowid, terms) VALUES (?, ?)")
          .run(Number(id), cut(text).join(" "));
      });
    },
    get(memory_id: string, owner: string): MemoryItem | undefined {
      const row = idOf(memory_id, owner);
      return row && toItem(row);
    },
    remove(memory_id: string, owner: string): boolean {
      const row = idOf(memory_id, owner);
      if (!row) return false;
      const id = Number(row["id"]);
      change(() => {
        forget(id);
        database.prepare("DELETE FROM memories WHERE id = ?").run(id);
      });
      return true;
    },
    /** Newest first. */
    list(filter: ListFilter): MemoryItem[] {
      const { sql, values } = where(filter);
      return database
        .prepare(`SELECT item FROM memories WHERE ${sql} ORDER BY updated_at DESC, id DESC LIMIT ?`)
        .all(...values, filter.limit)
        .map(toItem);
    },
    /** The memories with any of these terms, the best ones only when there are many. */
    match(terms: readonly string[], filter: MemoryFilter) {
      const { sql, values } = where(filter);
      const from = `FROM memory_terms JOIN memories ON memories.id = memory_terms.rowid
        WHERE memory_terms MATCH ? AND ${sql}`;
      const count = database.prepare(`SELECT count(*) AS count ${from}`);
      const rows = database
        .prepare(`SELECT memories.id AS id, terms ${from} ORDER BY bm25(memory_terms) LIMIT ?`)
        .all(terms.map(quote).join(" OR "), ...values, MAX_MATCHES);
      return {
        /** In the order of the terms: how many memories contain each. */
        holders: terms.map((term) => Number(count.get(quote(term), ...values)?.["count"])),
        rows: rows.map((row) => ({ id: Number(row["id"]), terms: String(row["terms"]).split(" ") })),
      };
    },
    /** Vectors of an embedding model; without a name, those of the word table. */
    placed: ({ scopes, owner }: MemoryFilter, model?: string) =>
      load(model).filter((row) => scopes.includes(row.scope) && isVisible(row, owner)),
    /** Memories without a vector of this model. */
    unplaced: (model: string, limit: number) =>
      database
        .prepare(
          `SELECT id, item FROM memories
           WHERE NOT EXISTS (SELECT 1 FROM memory_vectors WHERE memory_vectors.id = memories.id AND model = ?) LIMIT ?`,
        )
        .all(model, limit)
        .map((row) => ({ id: Number(row["id"]), text: textOf(toItem(row)) })),
    place(model: string, vectors: readonly { readonly id: number; readonly vector: Float32Array }[]): void {
      const insert = database.prepare(
        "INSERT OR REPLACE INTO memory_vectors (id, model, vector) VALUES (?, ?, ?)",
      );
      change(() => {
        for (const { id, vector } of vectors) insert.run(id, model, new Uint8Array(vector.slice().buffer));
      });
    },
    read(id: number): MemoryItem | undefined {
      const row = database.prepare("SELECT item FROM memories WHERE id = ?").get(id);
      return row && toItem(row);
    },
    close: () => database.close(),
  };
}

/** The owner of memories that are files of the project. */
export const OF_PROJECT = "project";

/** Session memories belong to their caller; others to all callers of the person, or of one owner of the bridge. */
const isVisible = ({ scope, owner: creator }: { scope: string; owner: string }, caller: string): boolean =>
  creator === caller ||
  creator === OF_PROJECT ||
  (scope !== "session" && ownerOf(creator) === ownerOf(caller));

/** The same in SQL, with the caller as its parameter. */
function visibleTo(caller: string): string {
  const owner = ownerOf(caller);
  // An owner's id has only letters and digits besides the underscore.
  const isShared = owner === undefined ? "owner NOT GLOB 'owner_*'" : `owner GLOB '${owner}*'`;
  return `(owner = ? OR owner = '${OF_PROJECT}' OR (scope <> 'session' AND ${isShared}))`;
}

// put() wrote it.
const toItem = (row: Record<string, unknown>): MemoryItem => JSON.parse(String(row["item"]));

const textOf = ({ text, tags, terms = [] }: MemoryItem): string => [text, ...tags, ...terms].join("\n");

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
