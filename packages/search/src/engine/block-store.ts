import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { BlockPostings, ChunkFacts, RankedBlock } from "./chunk-ranker.ts";
import { type SealedBlock, sealChunks, unsealBlock } from "./sealed-block.ts";

/** A chunk that has not been sealed into a block yet. */
export interface OpenChunk extends ChunkFacts {
  /** Separated by spaces. */
  readonly terms: string;
  /** As written by `encodeChunk`. */
  readonly packed: Uint8Array;
}

/**
 * The data for ranking chunks. New chunks stay open; many of them are sealed into a block, whose postings are
 * read from disk on demand, so an index of any size is ready at once.
 */
export interface BlockStore {
  add(chunk: OpenChunk): void;
  remove(ids: readonly number[]): void;
  countOpen(): number;
  open(): Iterable<OpenChunk>;
  blocks(): Iterable<SealedBlock & RankedBlock>;
  postings(term: string): BlockPostings[];
  /** Ids of removed chunks in blocks. */
  removed(): number[];
  /** Seals all open chunks into one block. */
  seal(): void;
  /** Reopens the chunks of blocks that are mostly removed. */
  unseal(): boolean;
}

/** A chunk's offset in its block must fit into two bytes. */
const MAX_SEALED_AT_ONCE = 16_384;

/** Every method runs within the caller's transaction. */
export function createBlockStore(db: DatabaseSync): BlockStore {
  const sql = {
    add: db.prepare(
      "INSERT INTO open_chunks (chunk, file, traits, copy, terms, packed) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    countOpen: db.prepare("SELECT count(*) AS open FROM open_chunks"),
    open: db.prepare("SELECT * FROM open_chunks ORDER BY chunk LIMIT ?"),
    close: db.prepare("DELETE FROM open_chunks WHERE chunk = ?"),
    closeUpTo: db.prepare("DELETE FROM open_chunks WHERE chunk <= ?"),
    remove: db.prepare("INSERT OR IGNORE INTO removed (chunk) VALUES (?)"),
    removed: db.prepare("SELECT chunk FROM removed"),
    restore: db.prepare("DELETE FROM removed WHERE chunk = ?"),
    putBlock: db.prepare(
      "INSERT INTO blocks (ids, files, traits, copies, scales, vectors) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    blockIds: db.prepare("SELECT id FROM blocks ORDER BY id"),
    block: db.prepare("SELECT * FROM blocks WHERE id = ?"),
    removeBlock: db.prepare("DELETE FROM blocks WHERE id = ?"),
    putPostings: db.prepare("INSERT INTO postings (term, block, entries) VALUES (?, ?, ?)"),
    postings: db.prepare("SELECT block, entries FROM postings WHERE term = ?"),
    postingsOf: db.prepare("SELECT term, entries FROM postings WHERE block = ?"),
    removePostings: db.prepare("DELETE FROM postings WHERE block = ?"),
  };

  const add = ({ id, file, traits, copy, terms, packed }: OpenChunk) => {
    sql.add.run(id, file, traits, copy, terms, packed);
  };
  const open = (limit: number): OpenChunk[] =>
    sql.open.all(limit).map((row) => ({
      id: Number(row["chunk"]),
      file: Number(row["file"]),
      traits: Number(row["traits"]),
      copy: Number(row["copy"]),
      terms: String(row["terms"]),
      packed: bytesOf(row["packed"]),
    }));
  const removed = () => sql.removed.all().map((row) => Number(row["chunk"]));
  function* blocks(): Generator<SealedBlock & RankedBlock> {
    // One at a time: together they may be larger than everything else in memory.
    for (const { id = 0 } of sql.blockIds.all()) {
      const row = sql.block.get(id) ?? {};
      yield {
        number: Number(row["id"]),
        ids: new Uint32Array(bytesOf(row["ids"]).buffer),
        files: new Uint32Array(bytesOf(row["files"]).buffer),
        traits: bytesOf(row["traits"]),
        copies: new Uint32Array(bytesOf(row["copies"]).buffer),
        scales: new Float32Array(bytesOf(row["scales"]).buffer),
        vectors: new Int8Array(bytesOf(row["vectors"]).buffer),
      };
    }
  }

  return {
    add,
    remove(ids) {
      for (const id of ids) if (sql.close.run(id).changes === 0) sql.remove.run(id);
    },
    countOpen: () => Number(sql.countOpen.get()?.["open"] ?? 0),
    open: () => open(-1),
    blocks,
    postings: (term) =>
      sql.postings.all(term).map((row) => ({
        block: Number(row["block"]),
        entries: new Uint16Array(bytesOf(row["entries"]).buffer),
      })),
    removed,
    seal() {
      const chunks = open(MAX_SEALED_AT_ONCE);
      const last = chunks.at(-1);
      if (!last) return;
      const { block, postings } = sealChunks(chunks);
      const { lastInsertRowid: number } = sql.putBlock.run(
        ...[toBytes(block.ids), toBytes(block.files), block.traits],
        ...[toBytes(block.copies), toBytes(block.scales), toBytes(block.vectors)],
      );
      // Sorted, because inserts in key order are faster.
      for (const [term, entries] of [...postings].sort(([a], [b]) => (a < b ? -1 : 1)))
        sql.putPostings.run(term, number, toBytes(entries));
      sql.closeUpTo.run(last.id);
    },
    unseal() {
      const gone = new Set(removed());
      let hasUnsealed = false;
      for (const block of gone.size === 0 ? [] : blocks()) {
        const left = block.ids.filter((id) => !gone.has(id));
        if (2 * left.length > block.ids.length) continue;
        const postings = sql.postingsOf.all(block.number).map((row) => ({
          term: String(row["term"]),
          entries: new Uint16Array(bytesOf(row["entries"]).buffer),
        }));
        sql.removeBlock.run(block.number);
        sql.removePostings.run(block.number);
        for (const id of block.ids) sql.restore.run(id);
        for (const chunk of unsealBlock(block, postings)) if (!gone.has(chunk.id)) add(chunk);
        hasUnsealed = true;
      }
      return hasUnsealed;
    },
  };
}

/** Returns bytes in a buffer of their own, so that typed arrays of any width can be aligned to its start. */
function bytesOf(value: SQLOutputValue | undefined): Uint8Array<ArrayBuffer> {
  if (!(value instanceof Uint8Array)) return new Uint8Array(0);
  return value.byteOffset === 0 && value.byteLength === value.buffer.byteLength ? value : value.slice();
}

const toBytes = (list: Uint32Array | Uint16Array | Float32Array | Int8Array): Uint8Array =>
  new Uint8Array(list.buffer, list.byteOffset, list.byteLength);
