import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { type PackedVector, type VectorBlock, vectorIn } from "../vector/vector-store.ts";
import { decodeChunk, encodeChunk } from "./packed-chunk.ts";

/** A chunk that has not been sealed into a block yet. */
export interface OpenChunk {
  readonly id: number;
  readonly file: number;
  readonly traits: number;
  /** Separated by spaces. */
  readonly terms: string;
  /** As written by `encodeChunk`. */
  readonly packed: Uint8Array;
}

/** Many chunks as parallel arrays. */
export interface SealedBlock extends VectorBlock {
  readonly number: number;
  readonly ids: Uint32Array;
  readonly files: Uint32Array;
  readonly traits: Uint8Array;
}

/** The postings of a term in a sealed block: pairs of a chunk's offset and its weight. */
export interface BlockPostings {
  readonly block: number;
  readonly entries: Uint16Array;
}

/** A chunk's offset in its block must fit into two bytes. */
const MAX_SEALED_AT_ONCE = 16_384;

/**
 * The data for ranking chunks. New chunks stay open; many of them are sealed into a block, whose postings are
 * read from disk on demand, so an index of any size is ready at once. Every method runs within the caller's
 * transaction.
 */
export function createBlockStore(db: DatabaseSync) {
  const sql = {
    add: db.prepare("INSERT INTO open_chunks (chunk, file, traits, terms, packed) VALUES (?, ?, ?, ?, ?)"),
    countOpen: db.prepare("SELECT count(*) AS open FROM open_chunks"),
    open: db.prepare("SELECT * FROM open_chunks ORDER BY chunk LIMIT ?"),
    close: db.prepare("DELETE FROM open_chunks WHERE chunk = ?"),
    closeUpTo: db.prepare("DELETE FROM open_chunks WHERE chunk <= ?"),
    remove: db.prepare("INSERT OR IGNORE INTO removed (chunk) VALUES (?)"),
    removed: db.prepare("SELECT chunk FROM removed"),
    restore: db.prepare("DELETE FROM removed WHERE chunk = ?"),
    putBlock: db.prepare("INSERT INTO blocks (ids, files, traits, scales, vectors) VALUES (?, ?, ?, ?, ?)"),
    blockIds: db.prepare("SELECT id FROM blocks ORDER BY id"),
    block: db.prepare("SELECT * FROM blocks WHERE id = ?"),
    removeBlock: db.prepare("DELETE FROM blocks WHERE id = ?"),
    putPostings: db.prepare("INSERT INTO postings (term, block, entries) VALUES (?, ?, ?)"),
    postings: db.prepare("SELECT block, entries FROM postings WHERE term = ?"),
    postingsOf: db.prepare("SELECT term, entries FROM postings WHERE block = ?"),
    removePostings: db.prepare("DELETE FROM postings WHERE block = ?"),
    allPostings: db.prepare("SELECT term, block, entries FROM postings"),
    removeTerm: db.prepare("DELETE FROM postings WHERE term = ? AND block = ?"),
  };

  const add = ({ id, file, traits, terms, packed }: OpenChunk) =>
    void sql.add.run(id, file, traits, terms, packed);
  const open = (limit = -1): OpenChunk[] =>
    sql.open.all(limit).map((row) => ({
      id: Number(row["chunk"]),
      file: Number(row["file"]),
      traits: Number(row["traits"]),
      terms: String(row["terms"]),
      packed: bytesOf(row["packed"]),
    }));
  /** Ids of removed chunks in blocks. */
  const removed = () => sql.removed.all().map((row) => Number(row["chunk"]));
  function* blocks(): Generator<SealedBlock> {
    // One at a time: together they may be larger than everything else in memory.
    for (const { id = 0 } of sql.blockIds.all()) {
      const row = sql.block.get(id) ?? {};
      yield {
        number: Number(row["id"]),
        ids: new Uint32Array(bytesOf(row["ids"]).buffer),
        files: new Uint32Array(bytesOf(row["files"]).buffer),
        traits: bytesOf(row["traits"]),
        scales: new Float32Array(bytesOf(row["scales"]).buffer),
        vectors: new Int8Array(bytesOf(row["vectors"]).buffer),
      };
    }
  }

  return {
    add,
    open,
    removed,
    blocks,
    remove(ids: readonly number[]) {
      for (const id of ids) if (sql.close.run(id).changes === 0) sql.remove.run(id);
    },
    /** Removes the terms that only removed chunks have: they may be those of a file that is a secret now. */
    dropLoneTerms() {
      const gone = new Set(removed());
      if (gone.size === 0) return;
      const isGone = new Map(
        blocks().map(({ number, ids }) => [number, Array.from(ids, (id) => gone.has(id))] as const),
      );
      const lone = sql.allPostings.all().filter((row) => {
        const inBlock = isGone.get(Number(row["block"]));
        return entriesOf(row["entries"]).every((entry, at) => at % 2 === 1 || inBlock?.[entry] === true);
      });
      for (const row of lone) sql.removeTerm.run(String(row["term"]), Number(row["block"]));
    },
    /** The word table's vectors of some chunks. */
    vectorsOf(wanted: ReadonlySet<number>): Map<number, PackedVector> {
      const found = new Map<number, PackedVector>();
      for (const block of blocks())
        for (const [at, id] of block.ids.entries()) if (wanted.has(id)) found.set(id, vectorIn(block, at));
      for (const { id, packed } of open()) if (wanted.has(id)) found.set(id, decodeChunk(packed).vector);
      return found;
    },
    countOpen: (): number => Number(sql.countOpen.get()?.["open"] ?? 0),
    postings: (term: string): BlockPostings[] =>
      sql.postings
        .all(term)
        .map((row) => ({ block: Number(row["block"]), entries: entriesOf(row["entries"]) })),
    /** Seals all open chunks into one block. */
    seal() {
      const chunks = open(MAX_SEALED_AT_ONCE);
      const last = chunks.at(-1);
      if (!last) return;
      const { block, postings } = sealChunks(chunks);
      const { lastInsertRowid: number } = sql.putBlock.run(
        ...[toBytes(block.ids), toBytes(block.files), block.traits],
        ...[toBytes(block.scales), toBytes(block.vectors)],
      );
      // Sorted, because inserts in key order are faster.
      for (const [term, entries] of [...postings].sort(([a], [b]) => (a < b ? -1 : 1)))
        sql.putPostings.run(term, number, toBytes(entries));
      sql.closeUpTo.run(last.id);
    },
    /** Reopens the chunks of blocks that are mostly removed; returns whether there were any. */
    unseal(): boolean {
      const gone = new Set(removed());
      let hasUnsealed = false;
      for (const block of gone.size === 0 ? [] : blocks()) {
        const left = block.ids.filter((id) => !gone.has(id));
        if (2 * left.length > block.ids.length) continue;
        const postings = sql.postingsOf
          .all(block.number)
          .map((row) => [String(row["term"]), entriesOf(row["entries"])] as const);
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

/** By term, as in `BlockPostings`. */
type TermPostings = Iterable<readonly [term: string, entries: Uint16Array]>;

/** Builds a block and its postings from chunks in the order of their ids. */
export function sealChunks(chunks: readonly OpenChunk[]): {
  block: Omit<SealedBlock, "number">;
  postings: TermPostings;
} {
  const packed = chunks.map((chunk) => decodeChunk(chunk.packed));
  const dimensions = packed[0]?.vector.values.length ?? 0;
  const vectors = new Int8Array(chunks.length * dimensions);
  for (const [at, { vector }] of packed.entries()) vectors.set(vector.values, at * dimensions);
  const lists = new Map<string, number[]>();
  for (const [at, { terms }] of chunks.entries())
    for (const [n, term] of terms.split(" ").entries()) {
      const list = lists.get(term) ?? [];
      list.push(at, packed[at]?.weights[n] ?? 0);
      lists.set(term, list);
    }
  return {
    block: {
      ids: Uint32Array.from(chunks, ({ id }) => id),
      files: Uint32Array.from(chunks, ({ file }) => file),
      traits: Uint8Array.from(chunks, ({ traits }) => traits),
      scales: Float32Array.from(packed, ({ vector }) => vector.scale),
      vectors,
    },
    postings: lists.entries().map(([term, list]) => [term, Uint16Array.from(list)] as const),
  };
}

/** Restores the chunks of a block. */
export function unsealBlock(block: Omit<SealedBlock, "number">, postings: TermPostings): OpenChunk[] {
  const terms = Array.from(block.ids, (): string[] => []);
  const weights = Array.from(block.ids, (): number[] => []);
  for (const [term, entries] of postings)
    for (let n = 0; n < entries.length; n += 2) {
      terms[entries[n] ?? 0]?.push(term);
      weights[entries[n] ?? 0]?.push(entries[n + 1] ?? 0);
    }
  return Array.from(block.ids, (id, at) => ({
    id,
    file: block.files[at] ?? 0,
    traits: block.traits[at] ?? 0,
    terms: terms[at]?.join(" ") ?? "",
    packed: encodeChunk({ vector: vectorIn(block, at), weights: Uint16Array.from(weights[at] ?? []) }),
  }));
}

/** Returns bytes in a buffer of their own, so that typed arrays of any width can be aligned to its start. */
function bytesOf(value: SQLOutputValue | undefined): Uint8Array<ArrayBuffer> {
  if (!(value instanceof Uint8Array)) return new Uint8Array(0);
  return value.byteOffset === 0 && value.byteLength === value.buffer.byteLength ? value : value.slice();
}

const entriesOf = (value: SQLOutputValue | undefined) => new Uint16Array(bytesOf(value).buffer);

const toBytes = (list: Uint32Array | Uint16Array | Float32Array | Int8Array): Uint8Array =>
  new Uint8Array(list.buffer, list.byteOffset, list.byteLength);
