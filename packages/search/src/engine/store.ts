import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import type { Range } from "@octant/core";
import { FIELDS, type FieldTerms } from "../lexical/bm25f.ts";
import type { SymbolKind } from "../syntax/language.ts";
import type { ParsedFile } from "./parse-file.ts";

/** A file as it was when it was taken apart. */
export interface FileState {
  readonly path: string;
  readonly hash: string;
  readonly size: number;
  readonly mtimeMs: number;
}

export interface StoredSymbol {
  readonly file: string;
  readonly hash: string;
  readonly name: string;
  readonly path: string;
  readonly kind: SymbolKind;
  readonly range: Range;
  readonly nameRange: Range;
  readonly signature: string;
  readonly doc: string | null;
}

export interface StoredChunk {
  readonly id: number;
  readonly file: string;
  readonly hash: string;
  readonly firstLine: number;
  readonly endLine: number;
  readonly symbol: StoredSymbol | null;
}

/** The index on the disk, shared by all servers of a workspace. Numbers of chunks are never used twice. */
export interface IndexStore extends Disposable {
  /** Replaces what is known of the file; returns the numbers of the chunks that are gone and of those that are new. */
  put(file: FileState, parsed: ParsedFile): { gone: number[]; fresh: number[] };
  remove(path: string): number[];
  files(): Map<string, FileState>;
  counts(): { files: number; chunks: number; symbols: number; bytes: number };
  chunk(id: number): StoredChunk | undefined;
  /** Every chunk above a number, for those who keep a list of their own. */
  terms(after: number): Iterable<{ id: number; terms: FieldTerms }>;
  chunkIds(): number[];
  /** Changes whenever another process has written. */
  version(): number;
  symbolsOf(path: string): StoredSymbol[];
  symbolsNamed(name: string): StoredSymbol[];
  /** Names that begin with or hold the text, whatever their case. */
  namesLike(pattern: string, limit: number): string[];
  transaction(work: () => void): void;
}

const SCHEMA_VERSION = 1;
const SCHEMA = `
  CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, size INTEGER NOT NULL, mtime REAL NOT NULL
  ) STRICT;
  CREATE TABLE symbols (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, name TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL,
    place TEXT NOT NULL, signature TEXT NOT NULL, doc TEXT
  ) STRICT;
  CREATE INDEX symbols_by_file ON symbols (file);
  CREATE INDEX symbols_by_name ON symbols (name COLLATE NOCASE);
  CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL, symbol INTEGER, first_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL, terms TEXT NOT NULL
  ) STRICT;
  CREATE INDEX chunks_by_file ON chunks (file);
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

const SYMBOL = `SELECT s.*, f.path AS file_path, f.hash FROM symbols s JOIN files f ON f.id = s.file`;

/** `:memory:` for one that is kept nowhere. */
export function openIndexStore(file: string): IndexStore {
  const db = open(file);
  const prepared = {
    putFile: db.prepare(
      "INSERT INTO files (path, hash, size, mtime) VALUES (?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET hash = excluded.hash, size = excluded.size, mtime = excluded.mtime RETURNING id",
    ),
    fileId: db.prepare("SELECT id FROM files WHERE path = ?"),
    removeFile: db.prepare("DELETE FROM files WHERE id = ?"),
    removeSymbols: db.prepare("DELETE FROM symbols WHERE file = ?"),
    removeChunks: db.prepare("DELETE FROM chunks WHERE file = ? RETURNING id"),
    putSymbol: db.prepare(
      "INSERT INTO symbols (file, name, path, kind, place, signature, doc) VALUES (?, ?, ?, ?, ?, ?, ?)",
    ),
    putChunk: db.prepare(
      "INSERT INTO chunks (file, symbol, first_line, end_line, terms) VALUES (?, ?, ?, ?, ?)",
    ),
    files: db.prepare("SELECT path, hash, size, mtime FROM files"),
    counts: db.prepare(
      "SELECT (SELECT count(*) FROM files) files, (SELECT count(*) FROM chunks) chunks, (SELECT count(*) FROM symbols) symbols, (SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()) bytes",
    ),
    chunk: db.prepare(
      "SELECT c.*, f.path AS file_path, f.hash FROM chunks c JOIN files f ON f.id = c.file WHERE c.id = ?",
    ),
    terms: db.prepare("SELECT id, terms FROM chunks WHERE id > ? ORDER BY id"),
    chunkIds: db.prepare("SELECT id FROM chunks"),
    symbol: db.prepare(`${SYMBOL} WHERE s.id = ?`),
    symbolsOf: db.prepare(`${SYMBOL} WHERE f.path = ? ORDER BY s.id`),
    symbolsNamed: db.prepare(`${SYMBOL} WHERE s.name = ? COLLATE NOCASE ORDER BY f.path, s.id`),
    namesLike: db.prepare(
      "SELECT DISTINCT name FROM symbols WHERE name LIKE ? ESCAPE '\\' ORDER BY length(name), name LIMIT ?",
    ),
    version: db.prepare("PRAGMA data_version"),
  };

  const clear = (id: number): number[] => {
    prepared.removeSymbols.run(id);
    return prepared.removeChunks.all(id).map((row) => Number(row["id"]));
  };

  return {
    put({ path, hash, size, mtimeMs }, { symbols, chunks }) {
      const id = Number(prepared.putFile.get(path, hash, size, mtimeMs)?.["id"]);
      const gone = clear(id);
      const symbolIds = symbols.map((symbol) =>
        Number(
          prepared.putSymbol.run(
            id,
            symbol.name,
            symbol.path,
            symbol.kind,
            JSON.stringify([symbol.range, symbol.nameRange]),
            symbol.signature,
            symbol.doc,
          ).lastInsertRowid,
        ),
      );
      const fresh = chunks.map(({ symbol, firstLine, endLine, terms }) =>
        Number(
          prepared.putChunk.run(
            id,
            symbol === null ? null : (symbolIds[symbol] ?? null),
            firstLine,
            endLine,
            encodeTerms(terms),
          ).lastInsertRowid,
        ),
      );
      return { gone, fresh };
    },
    remove(path) {
      const id = prepared.fileId.get(path)?.["id"];
      if (id === undefined) return [];
      const gone = clear(Number(id));
      prepared.removeFile.run(id);
      return gone;
    },
    files: () =>
      new Map(
        prepared.files.all().map((row) => {
          const path = String(row["path"]);
          const [hash, size, mtimeMs] = [String(row["hash"]), Number(row["size"]), Number(row["mtime"])];
          return [path, { path, hash, size, mtimeMs }] as const;
        }),
      ),
    counts() {
      const row = prepared.counts.get() ?? {};
      const number = (name: string) => Number(row[name] ?? 0);
      return {
        files: number("files"),
        chunks: number("chunks"),
        symbols: number("symbols"),
        bytes: number("bytes"),
      };
    },
    chunk(id) {
      const row = prepared.chunk.get(id);
      if (!row) return undefined;
      const symbol = row["symbol"] === null ? undefined : prepared.symbol.get(row["symbol"] ?? null);
      return {
        id,
        file: String(row["file_path"]),
        hash: String(row["hash"]),
        firstLine: Number(row["first_line"]),
        endLine: Number(row["end_line"]),
        symbol: symbol ? toSymbol(symbol) : null,
      };
    },
    *terms(after) {
      for (const row of prepared.terms.iterate(after))
        yield { id: Number(row["id"]), terms: parseTerms(String(row["terms"])) };
    },
    chunkIds: () => prepared.chunkIds.all().map((row) => Number(row["id"])),
    version: () => Number(prepared.version.get()?.["data_version"]),
    symbolsOf: (path) => prepared.symbolsOf.all(path).map(toSymbol),
    symbolsNamed: (name) => prepared.symbolsNamed.all(name).map(toSymbol),
    namesLike: (pattern, limit) => prepared.namesLike.all(pattern, limit).map((row) => String(row["name"])),
    transaction(work) {
      db.exec("BEGIN IMMEDIATE");
      try {
        work();
        db.exec("COMMIT");
      } catch (cause) {
        db.exec("ROLLBACK");
        throw cause;
      }
    },
    [Symbol.dispose]: () => db.close(),
  };
}

/** What another version wrote is not read but written anew: an index holds nothing that the files do not. */
function open(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;");
  const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (version === SCHEMA_VERSION) return db;
  db.exec("DROP TABLE IF EXISTS files; DROP TABLE IF EXISTS symbols; DROP TABLE IF EXISTS chunks;");
  db.exec(SCHEMA);
  return db;
}

/** A line for each field: terms hold neither spaces nor line ends. */
const encodeTerms = (terms: FieldTerms): string => FIELDS.map((field) => terms[field].join(" ")).join("\n");

function parseTerms(text: string): FieldTerms {
  const lines = text.split("\n");
  const field = (at: number) => lines[at]?.split(" ").filter(Boolean) ?? [];
  return {
    name: field(0),
    container: field(1),
    path: field(2),
    signature: field(3),
    doc: field(4),
    body: field(5),
  };
}

function toSymbol(row: Record<string, SQLOutputValue>): StoredSymbol {
  // What `put` wrote: two ranges.
  const [range, nameRange] = JSON.parse(String(row["place"])) as [Range, Range];
  return {
    file: String(row["file_path"]),
    hash: String(row["hash"]),
    name: String(row["name"]),
    path: String(row["path"]),
    // What `put` wrote: one of the kinds.
    kind: String(row["kind"]) as SymbolKind,
    range,
    nameRange,
    signature: String(row["signature"]),
    doc: row["doc"] === null ? null : String(row["doc"]),
  };
}
