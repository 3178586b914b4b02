import type { SQLOutputValue } from "node:sqlite";
import type { SymbolKind } from "../syntax/language.ts";
import type { SourceSymbol } from "../syntax/symbols.ts";
import type { PlacedVector } from "../vector/vector-store.ts";
import { createBlockStore, type OpenChunk } from "./block-store.ts";
import { type ModelShare, type Probe, questionOf } from "./model-weight.ts";
import type { ParsedFile } from "./parse-file.ts";
import { openIndexFile } from "./schema.ts";

/** A file as it was when it was parsed. */
export interface FileState {
  readonly path: string;
  readonly hash: string;
  readonly size: number;
  readonly mtimeMs: number;
}

export interface StoredSymbol extends Omit<SourceSymbol, "start" | "end"> {
  readonly file: string;
  readonly hash: string;
}

export interface ChunkPlace {
  readonly id: number;
  readonly file: string;
  readonly hash: string;
  readonly firstLine: number;
  /** Exclusive. */
  readonly endLine: number;
}

/** A chunk to embed, and the path of its symbol. */
export interface Passage extends ChunkPlace {
  readonly symbolPath: string | null;
}

export interface StoredChunk extends ChunkPlace {
  readonly symbol: StoredSymbol | null;
}

export interface IndexCounts {
  readonly files: number;
  readonly chunks: number;
  readonly symbols: number;
  readonly bytes: number;
}

const SYMBOL = "SELECT s.*, f.path AS file_path, f.hash FROM symbols s JOIN files f ON f.id = s.file";
const CHUNK = "SELECT c.*, f.path AS file_path, f.hash FROM chunks c JOIN files f ON f.id = c.file";
/** Matches the path itself and everything below it: `0` is the character after `/`. */
const IN_PATH = "path = ?1 OR (path >= ?1 || '/' AND path < ?1 || '0')";

/** An order that looks random and is always the same. */
const scattered = (id: string) => `${id} * 2654435761 % 4294967296`;

export type IndexStore = ReturnType<typeof openIndexStore>;

const ROWS_PER_PAGE = 500;

/**
 * The index on disk, shared by all servers of a workspace; `:memory:` opens one that is not stored. Chunk ids are
 * never reused.
 */
export function openIndexStore(file: string) {
  const db = openIndexFile(file);
  const sql = {
    putFile: db.prepare(
      "INSERT INTO files (path, hash, size, mtime, unparsed) VALUES (?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET hash = excluded.hash, size = excluded.size, mtime = excluded.mtime, unparsed = excluded.unparsed RETURNING id",
    ),
    touch: db.prepare("UPDATE files SET size = ?, mtime = ? WHERE path = ? AND hash = ?"),
    filesIn: db.prepare(`SELECT id FROM files WHERE ${IN_PATH}`),
    removeFile: db.prepare("DELETE FROM files WHERE id = ?"),
    removeSymbols: db.prepare("DELETE FROM symbols WHERE file = ?"),
    removeVectors: db.prepare("DELETE FROM vectors WHERE chunk IN (SELECT id FROM chunks WHERE file = ?)"),
    removeChunks: db.prepare("DELETE FROM chunks WHERE file = ? RETURNING id"),
    putSymbol: db.prepare(
      "INSERT INTO symbols (file, name, path, kind, place, signature, doc) VALUES (?, ?, ?, ?, ?, ?, ?)",
    ),
    putChunk: db.prepare("INSERT INTO chunks (file, symbol, first_line, end_line) VALUES (?, ?, ?, ?)"),
    files: db.prepare("SELECT path, hash, size, mtime FROM files"),
    unparsed: db.prepare("SELECT path FROM files WHERE unparsed ORDER BY path"),
    hash: db.prepare("SELECT hash FROM files WHERE path = ?"),
    counts: db.prepare(
      "SELECT (SELECT count(*) FROM files) files, (SELECT count(*) FROM chunks) chunks, (SELECT count(*) FROM symbols) symbols, (SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()) bytes",
    ),
    chunk: db.prepare(`${CHUNK} WHERE c.id = ?`),
    countFiles: db.prepare("SELECT count(*) AS files FROM files"),
    symbol: db.prepare(`${SYMBOL} WHERE s.id = ?`),
    symbolsOf: db.prepare(`${SYMBOL} WHERE f.path = ? ORDER BY s.id`),
    symbolsNamed: db.prepare(`${SYMBOL} WHERE s.name = ? COLLATE NOCASE ORDER BY f.path, s.id`),
    chunksNamed: db.prepare(
      "SELECT c.id AS id FROM symbols s JOIN chunks c ON c.file = s.file AND c.symbol = s.id WHERE s.name = ? COLLATE NOCASE",
    ),
    // In the order of the index, which is faster than DISTINCT.
    names: db.prepare("SELECT min(name) AS name FROM symbols GROUP BY name COLLATE NOCASE"),
    putVector: db.prepare("INSERT OR REPLACE INTO vectors (chunk, scale, vector) VALUES (?, ?, ?)"),
    vectors: db.prepare("SELECT chunk, scale, vector FROM vectors WHERE chunk > ? ORDER BY chunk LIMIT ?"),
    withoutVector: db.prepare(
      "SELECT c.*, f.path AS file_path, f.hash, s.path AS symbol_path FROM chunks c JOIN files f ON f.id = c.file LEFT JOIN symbols s ON s.id = c.symbol WHERE c.id > ? AND c.id NOT IN (SELECT chunk FROM vectors) ORDER BY c.id LIMIT ?",
    ),
    model: db.prepare("SELECT value FROM kept WHERE name = 'embedder' AND value = ?"),
    setModel: db.prepare("INSERT OR REPLACE INTO kept (name, value) VALUES ('embedder', ?)"),
    share: db.prepare("SELECT value FROM kept WHERE name = 'model share'"),
    setShare: db.prepare("INSERT OR REPLACE INTO kept (name, value) VALUES ('model share', ?)"),
    countVectors: db.prepare("SELECT count(*) AS vectors FROM vectors"),
    probes: db.prepare(
      `SELECT c.id, s.name, s.doc FROM vectors v JOIN chunks c ON c.id = v.chunk JOIN symbols s ON s.id = c.symbol ORDER BY s.doc IS NULL, ${scattered("c.id")} LIMIT ?`,
    ),
    someVectors: db.prepare(
      `SELECT chunk, scale, vector FROM vectors WHERE chunk IN (SELECT chunk FROM vectors ORDER BY ${scattered("chunk")} LIMIT ?) OR chunk IN (SELECT value FROM json_each(?))`,
    ),
    version: db.prepare("PRAGMA data_version"),
  };
  const blocks = createBlockStore(db);
  const clear = (id: number): number[] => {
    sql.removeSymbols.run(id);
    sql.removeVectors.run(id);
    const gone = sql.removeChunks.all(id).map((row) => Number(row["id"]));
    blocks.remove(gone);
    return gone;
  };
  const transaction = <T>(work: () => T): T => {
    db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      db.exec("COMMIT");
      return result;
    } catch (cause) {
      // A full disk has rolled it back already; a second time would hide the cause.
      if (db.isTransaction) db.exec("ROLLBACK");
      throw cause;
    }
  };

  return {
    /** The ranking data of the chunks. */
    blocks,
    transaction,
    /** Replaces the rows of a file; `gone` are its previous chunks, `added` its new ones. */
    put({ path, hash, size, mtimeMs }: FileState, { symbols, chunks, isUnparsed }: ParsedFile) {
      const id = Number(sql.putFile.get(path, hash, size, mtimeMs, Number(isUnparsed ?? false))?.["id"]);
      const gone = clear(id);
      const symbolIds = symbols.map(({ name, path, kind, place, signature, doc }) =>
        Number(sql.putSymbol.run(id, name, path, kind, place, signature, doc).lastInsertRowid),
      );
      const added = chunks.map(({ symbol, firstLine, endLine, traits, terms, packed }): OpenChunk => {
        const symbolId = symbol === null ? null : (symbolIds[symbol] ?? null);
        const number = Number(sql.putChunk.run(id, symbolId, firstLine, endLine).lastInsertRowid);
        const bytes = Buffer.from(packed, "base64");
        const open = { id: number, file: id, traits, terms, packed: bytes };
        blocks.add(open);
        return open;
      });
      return { gone, added };
    },
    /** Updates the times of a file whose content has not changed. */
    touch: ({ path, hash, size, mtimeMs }: FileState) => void sql.touch.run(size, mtimeMs, path, hash),
    /** Removes the file, or everything below the folder; returns the removed chunks. */
    remove: (path: string): number[] =>
      sql.filesIn.all(path).flatMap((row) => {
        const id = Number(row["id"]);
        const gone = clear(id);
        sql.removeFile.run(id);
        return gone;
      }),
    files: () => new Map(sql.files.all().map((row) => [String(row["path"]), toState(row)])),
    /** Files that no parser can handle; the index has only their paths. */
    unparsed: () => sql.unparsed.all().map((row) => String(row["path"])),
    hashOf(path: string): string | undefined {
      const row = sql.hash.get(path);
      return row && String(row["hash"]);
    },
    /** Ids of the files at or below the path. */
    fileIdsIn: (path: string) => new Set(sql.filesIn.all(path).map((row) => Number(row["id"]))),
    counts(): IndexCounts {
      const row = sql.counts.get() ?? {};
      const number = (name: string) => Number(row[name] ?? 0);
      return {
        files: number("files"),
        chunks: number("chunks"),
        symbols: number("symbols"),
        bytes: number("bytes"),
      };
    },
    countFiles: (): number => Number(sql.countFiles.get()?.["files"] ?? 0),
    chunk(id: number): StoredChunk | undefined {
      const row = sql.chunk.get(id);
      if (!row) return undefined;
      const symbol = row["symbol"] === null ? undefined : sql.symbol.get(row["symbol"] ?? null);
      return { ...toChunkPlace(row), symbol: symbol ? toSymbol(symbol) : null };
    },
    /** Changes whenever another process writes. */
    version: (): number => Number(sql.version.get()?.["data_version"]),
    symbolsOf: (path: string): StoredSymbol[] => sql.symbolsOf.all(path).map(toSymbol),
    symbolsNamed: (name: string): StoredSymbol[] => sql.symbolsNamed.all(name).map(toSymbol),
    /** The chunks of the symbols with one of these names, ignoring case. */
    chunksNamed: (names: readonly string[]): number[] => [
      ...new Set(names.flatMap((name) => sql.chunksNamed.all(name).map((row) => Number(row["id"])))),
    ],
    /** One spelling of each name, ignoring case. */
    names: (): string[] => sql.names.all().map((row) => String(row["name"])),
    putVectors(entries: readonly PlacedVector[]) {
      for (const { id, vector } of entries) {
        const { values, scale } = vector;
        sql.putVector.run(id, scale, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
      }
    },
    /** Drops the vectors unless they are of this model. */
    useModel(model: string) {
      if (sql.model.get(Buffer.from(model))) return;
      transaction(() => {
        db.exec("DELETE FROM vectors; DELETE FROM kept WHERE name = 'model share'");
        sql.setModel.run(Buffer.from(model));
      });
    },
    /** The measured share of the model's weight; undefined until it was measured. */
    modelShare(): ModelShare | undefined {
      const row = sql.share.get();
      // `setModelShare` wrote it.
      return row && (JSON.parse(Buffer.from(row["value"] as Uint8Array).toString()) as ModelShare);
    },
    setModelShare: (share: ModelShare) => void sql.setShare.run(Buffer.from(JSON.stringify(share))),
    countVectors: (): number => Number(sql.countVectors.get()?.["vectors"] ?? 0),
    /** Documented symbols first, whose chunks have vectors. */
    probes: (limit: number): Probe[] =>
      sql.probes.all(limit).map((row) => ({
        id: Number(row["id"]),
        question: questionOf(String(row["name"]), row["doc"] === null ? null : String(row["doc"])),
      })),
    /** The vectors of these chunks and of others. */
    someVectors: (ids: readonly number[], others: number): PlacedVector[] =>
      sql.someVectors.all(others, JSON.stringify(ids)).map(toVector),
    /**
     * The vectors of an external model, in pages; those of the word table are in the blocks. No statement stays open,
     * so that others can write meanwhile.
     */
    *vectors(): Generator<PlacedVector[]> {
      for (let after = 0; ; ) {
        const page = sql.vectors.all(after, ROWS_PER_PAGE).map(toVector);
        yield page;
        if (page.length < ROWS_PER_PAGE) return;
        after = page.at(-1)?.id ?? 0;
      }
    },
    /** In the order of their ids, starting after the given one. */
    chunksWithoutVector: (after: number, limit: number): Passage[] =>
      sql.withoutVector.all(after, limit).map((row) => ({
        ...toChunkPlace(row),
        symbolPath: row["symbol_path"] === null ? null : String(row["symbol_path"]),
      })),
    /** Overwrites the remains of deleted rows in the write-ahead log. */
    truncateLog: () => db.exec("PRAGMA wal_checkpoint(TRUNCATE)"),
    close: () => db.close(),
  };
}

type Row = Record<string, SQLOutputValue>;

const toState = (row: Row): FileState => ({
  path: String(row["path"]),
  hash: String(row["hash"]),
  size: Number(row["size"]),
  mtimeMs: Number(row["mtime"]),
});

const toChunkPlace = (row: Row): ChunkPlace => ({
  id: Number(row["id"]),
  file: String(row["file_path"]),
  hash: String(row["hash"]),
  firstLine: Number(row["first_line"]),
  endLine: Number(row["end_line"]),
});

function toVector(row: Row): PlacedVector {
  // `putVectors` wrote these bytes.
  const { buffer, byteOffset, byteLength } = row["vector"] as Uint8Array;
  const values = new Int8Array(buffer, byteOffset, byteLength);
  return { id: Number(row["chunk"]), vector: { values, scale: Number(row["scale"]) } };
}

function toSymbol(row: Row): StoredSymbol {
  const [line = 0, col = 0, endLine = 0, endCol = 0, ...ofName] = String(row["place"]).split(",").map(Number);
  const [nameLine = 0, nameCol = 0, nameEndLine = 0, nameEndCol = 0] = ofName;
  return {
    file: String(row["file_path"]),
    hash: String(row["hash"]),
    name: String(row["name"]),
    path: String(row["path"]),
    // `put` wrote one of the kinds.
    kind: String(row["kind"]) as SymbolKind,
    range: { start: { line, col }, end: { line: endLine, col: endCol } },
    nameRange: { start: { line: nameLine, col: nameCol }, end: { line: nameEndLine, col: nameEndCol } },
    signature: String(row["signature"]),
    doc: row["doc"] === null ? null : String(row["doc"]),
  };
}
