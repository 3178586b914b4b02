import { requireInstalled } from "./optional-package.ts";
import { type PlacedVector, unpackVector, type VectorStore, vectorIn } from "./vector-store.ts";

/** The part of `@lancedb/lancedb` that we use; loaded on demand. */
interface Lance {
  connect(folder: string): Promise<Connection>;
}
interface Connection {
  tableNames(): Promise<string[]>;
  dropTable(name: string): Promise<void>;
  createTable(name: string, rows: readonly Row[], options: { mode: "create" | "overwrite" }): Promise<Table>;
  close(): void;
}
interface Table {
  mergeInsert(column: string): MergeInsert;
  delete(where: string): Promise<unknown>;
  vectorSearch(vector: Float32Array): VectorQuery;
  close(): void;
}
interface MergeInsert {
  whenMatchedUpdateAll(): MergeInsert;
  whenNotMatchedInsertAll(): MergeInsert;
  execute(rows: readonly Row[]): Promise<unknown>;
}
interface VectorQuery {
  distanceType(type: "cosine"): VectorQuery;
  select(columns: readonly string[]): VectorQuery;
  limit(count: number): VectorQuery;
  toArray(): Promise<{ readonly id: number; readonly _distance: number }[]>;
}
type Row = { readonly id: number; readonly vector: readonly number[] };

const PACKAGE = "@lancedb/lancedb";
const TABLE = "vectors";
/** Only the nearest have distinct scores; the rest count as far. */
const MAX_NEAR = 1_000;

/**
 * Vectors in LanceDB, for models whose vectors do not fit in memory. Starts empty: the index holds the
 * durable copy.
 */
export async function openLanceStore(folder: string): Promise<VectorStore> {
  requireLance();
  const name: string = PACKAGE;
  // The types are missing when it is not installed; these are the documented parts that we use.
  const lance = (await import(name)) as Lance;
  const db = await lance.connect(folder);
  if ((await db.tableNames()).includes(TABLE)) await db.dropTable(TABLE);
  let table: Table | undefined;
  let dimensions = 0;
  let size = 0;

  const put = async (entries: readonly PlacedVector[]) => {
    const last = entries.at(-1);
    if (!last) return;
    const isOther = last.vector.values.length !== dimensions;
    if (isOther) size = 0;
    for (const { id } of entries) size = Math.max(size, id + 1);
    if (table && !isOther) return merge(table, entries);
    dimensions = last.vector.values.length;
    table = await db.createTable(TABLE, toRows(entries), { mode: table ? "overwrite" : "create" });
  };

  return {
    put,
    putBlock: (first, block) =>
      put(Array.from(block.scales, (_, at) => ({ id: first + at, vector: vectorIn(block, at) }))),
    async remove(ids) {
      if (table && ids.length > 0) await table.delete(`id IN (${ids.join(", ")})`);
    },
    async scores(vector) {
      const scores = new Float64Array(size);
      if (!table || vector.values.length !== dimensions) return scores;
      const near = table
        .vectorSearch(unpackVector(vector))
        .distanceType("cosine")
        .select(["id", "_distance"]);
      for (const { id, _distance } of await near.limit(MAX_NEAR).toArray()) scores[id] = 1 - _distance;
      return scores;
    },
    async close() {
      table?.close();
      // Earlier versions of the table still have the removed vectors.
      if (table) await db.dropTable(TABLE);
      db.close();
    },
  };
}

/** Throws when LanceDB is not installed. */
export const requireLance = (): void => requireInstalled(PACKAGE, "the LanceDB vector store");

async function merge(table: Table, entries: readonly PlacedVector[]): Promise<void> {
  await table.mergeInsert("id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(toRows(entries));
}

const toRows = (entries: readonly PlacedVector[]): Row[] =>
  entries.map(({ id, vector }) => ({ id, vector: [...unpackVector(vector)] }));
