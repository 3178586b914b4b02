import { join } from "node:path";
import { createQuestionTerms, createTermCutter, loadWordTable, type WordTable } from "@octant/search";

export const SCOPES = ["session", "project", "global"] as const;
export type Scope = (typeof SCOPES)[number];

/** A file that a memory is about, with its state when the memory was written. */
export interface MemoryLink {
  readonly uri: string;
  readonly hash: string | null;
}

export interface MemoryItem {
  readonly memory_id: string;
  readonly scope: Scope;
  readonly kind: "note" | "fact";
  readonly text: string;
  readonly tags: readonly string[];
  readonly source: string;
  readonly confidence: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly links: readonly MemoryLink[];
}

export interface MemoryStore {
  put(item: MemoryItem, owner: string): void;
  get(memory_id: string, owner: string): MemoryItem | undefined;
  remove(memory_id: string, owner: string): boolean;
  /** Newest first. */
  list(filter: ListFilter): MemoryItem[];
  /** Best first. */
  recall(query: string, filter: ListFilter): MemoryItem[];
  close(): void;
}

export interface ListFilter {
  readonly scopes: readonly Scope[];
  readonly owner: string;
  readonly kind?: MemoryItem["kind"];
  readonly limit: number;
}

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS memories (
    id INTEGER PRIMARY KEY, memory_id TEXT UNIQUE NOT NULL, scope TEXT NOT NULL, owner TEXT NOT NULL,
    kind TEXT NOT NULL, updated_at TEXT NOT NULL, item TEXT NOT NULL, vector BLOB NOT NULL
  );
  CREATE VIRTUAL TABLE IF NOT EXISTS memory_terms USING fts5(terms, tokenize = 'unicode61');
`;

const CANDIDATES = 200;
/** The constant of reciprocal rank fusion. */
const RANK_OFFSET = 60;

/**
 * Memories in SQLite, searched by words and by word vectors; without a folder they end with the process. A session
 * memory belongs to its caller.
 */
export async function openMemoryStore(folder?: string): Promise<MemoryStore> {
  const { DatabaseSync } = await import("node:sqlite");
  const file = folder === undefined ? ":memory:" : join(folder, "memory.sqlite");
  const database = new DatabaseSync(file, { timeout: 10_000 });
  database.exec(SCHEMA);
  const cut = createTermCutter();
  const askedTerms = createQuestionTerms(cut);
  let table: WordTable | undefined;
  const words = (text: string): string[] => [...cut(text)];
  const openTable = () => {
    table ??= loadWordTable();
    return table;
  };
  const place = (text: string) =>
    openTable().placeChunk({ name: [], container: [], path: [], signature: [], text: words(text) });
  const searched = ({ text, tags }: MemoryItem) => [text, ...tags].join("\n");
  const where = ({ scopes, owner, kind }: ListFilter) => ({
    sql: `scope IN (${scopes.map(() => "?").join(", ")}) AND (scope <> 'session' OR owner = ?)${kind ? " AND kind = ?" : ""}`,
    values: [...scopes, owner, ...(kind ? [kind] : [])],
  });
  let placed: { readonly version: number; readonly rows: readonly Placed[] } | undefined;
  /** Cached until any process changes it: loading 10,000 vectors takes longer than the search. */
  const allPlaced = (): readonly Placed[] => {
    const version = Number(database.prepare("PRAGMA data_version").get()?.["data_version"]);
    if (placed?.version !== version) {
      const rows = database
        .prepare("SELECT id, scope, owner, kind, vector FROM memories")
        .all()
        .map(toPlaced);
      placed = { version, rows };
    }
    return placed.rows;
  };
  const nearest = (question: Float32Array, { scopes, owner, kind }: ListFilter): number[] =>
    allPlaced()
      .filter(
        (row) =>
          scopes.includes(row.scope) &&
          (row.scope !== "session" || row.owner === owner) &&
          (kind === undefined || row.kind === kind),
      )
      .map(({ id, vector }) => ({ id, score: similarity(question, vector) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, CANDIDATES)
      .map(({ id }) => id);
  const idOf = (memory_id: string, owner: string) =>
    database
      .prepare("SELECT id, item FROM memories WHERE memory_id = ? AND (scope <> 'session' OR owner = ?)")
      .get(memory_id, owner);

  return {
    put(item, owner) {
      placed = undefined;
      database.exec("BEGIN IMMEDIATE");
      try {
        const known = idOf(item.memory_id, owner);
        if (known) database.prepare("DELETE FROM memory_terms WHERE rowid = ?").run(Number(known["id"]));
        const vector = new Uint8Array(place(searched(item)).buffer);
        const { id } = database
          .prepare(
            `INSERT INTO memories (memory_id, scope, owner, kind, updated_at, item, vector) VALUES (?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (memory_id) DO UPDATE SET kind = excluded.kind, updated_at = excluded.updated_at,
               item = excluded.item, vector = excluded.vector RETURNING id`,
          )
          .get(
            item.memory_id,
            item.scope,
            owner,
            item.kind,
            item.updated_at,
            JSON.stringify(item),
            vector,
          ) ?? { id: 0 };
        database
          .prepare("INSERT INTO memory_terms (rowid, terms) VALUES (?, ?)")
          .run(Number(id), words(searched(item)).join(" "));
        database.exec("COMMIT");
      } catch (cause) {
        database.exec("ROLLBACK");
        throw cause;
      }
    },
    get(memory_id, owner) {
      const row = idOf(memory_id, owner);
      return row && toItem(row);
    },
    remove(memory_id, owner) {
      const row = idOf(memory_id, owner);
      if (!row) return false;
      placed = undefined;
      database.prepare("DELETE FROM memory_terms WHERE rowid = ?").run(Number(row["id"]));
      database.prepare("DELETE FROM memories WHERE id = ?").run(Number(row["id"]));
      return true;
    },
    list(filter) {
      const { sql, values } = where(filter);
      return database
        .prepare(`SELECT item FROM memories WHERE ${sql} ORDER BY updated_at DESC, id DESC LIMIT ?`)
        .all(...values, filter.limit)
        .map(toItem);
    },
    recall(query, filter) {
      const { sql, values } = where(filter);
      const asked = askedTerms(query).map(({ term }) => term);
      if (asked.length === 0) return [];
      const match = asked.map((term) => `"${term}"`).join(" OR ");
      const byWords = database
        .prepare(
          `SELECT memories.id AS id FROM memory_terms JOIN memories ON memories.id = memory_terms.rowid
           WHERE memory_terms MATCH ? AND ${sql} ORDER BY bm25(memory_terms) LIMIT ?`,
        )
        .all(match, ...values, CANDIDATES)
        .map((row) => Number(row["id"]));
      const question = openTable().placeQuestion(words(query));
      const byMeaning = nearest(question, filter);
      const scores = new Map<number, number>();
      // Equal words count more than similar ones.
      for (const [ids, weight] of [
        [byWords, 2],
        [byMeaning, 1],
      ] as const)
        for (const [rank, id] of ids.entries())
          scores.set(id, (scores.get(id) ?? 0) + weight / (RANK_OFFSET + rank));
      const read = database.prepare("SELECT item FROM memories WHERE id = ?");
      return [...scores]
        .sort(([a, one], [b, other]) => other - one || b - a)
        .slice(0, filter.limit)
        .flatMap(([id]) => {
          const row = read.get(id);
          return row ? [toItem(row)] : [];
        });
    },
    close: () => database.close(),
  };
}

// put() wrote it.
const toItem = (row: Record<string, unknown>): MemoryItem => JSON.parse(String(row["item"]));

interface Placed {
  readonly id: number;
  readonly scope: Scope;
  readonly owner: string;
  readonly kind: string;
  readonly vector: Float32Array;
}

const toPlaced = (row: Record<string, unknown>): Placed => ({
  id: Number(row["id"]),
  // put() wrote it.
  scope: row["scope"] as Scope,
  owner: String(row["owner"]),
  kind: String(row["kind"]),
  vector:
    row["vector"] instanceof Uint8Array ? new Float32Array(row["vector"].slice().buffer) : new Float32Array(),
});

function similarity(question: Float32Array, vector: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < question.length; at++) sum += (question[at] ?? 0) * (vector[at] ?? 0);
  return sum;
}
