import type { StoreDatabase } from "./store-database.ts";

/** A document of a tool that belongs to one caller, such as a plan. Its id sorts by creation time. */
export interface OwnRecord {
  readonly record_id: string;
  readonly kind: string;
  readonly owner: string;
  /** JSON; the tool that wrote it knows its shape. */
  readonly body: string;
}

export interface RecordFilter {
  readonly kind: string;
  readonly owner: string;
  /** Older than this one; they come newest first. */
  readonly before?: string | undefined;
  readonly limit: number;
}

type Key = Omit<OwnRecord, "body">;

/** The records of one kind and owner. */
const MAX_RECORDS = 1_000;

/** Small documents of callers. Each caller has its newest ones of a kind; older ones are dropped. */
export function createRecords(db: StoreDatabase) {
  const get = ({ record_id, kind, owner }: Key): string | undefined =>
    db.get<{ body: string }>(
      "SELECT body FROM records WHERE record_id = $record_id AND kind = $kind AND owner = $owner",
      { record_id, kind, owner },
    )?.body;
  const put = ({ record_id, kind, owner, body }: OwnRecord): void => {
    db.run(
      `INSERT INTO records (record_id, kind, owner, body) VALUES ($record_id, $kind, $owner, $body)
       ON CONFLICT (record_id) DO UPDATE SET body = excluded.body`,
      { record_id, kind, owner, body },
    );
    db.run(
      `DELETE FROM records WHERE kind = $kind AND owner = $owner AND record_id <=
         (SELECT record_id FROM records WHERE kind = $kind AND owner = $owner
          ORDER BY record_id DESC LIMIT 1 OFFSET ${MAX_RECORDS})`,
      { kind, owner },
    );
  };
  return {
    get,
    /** Adds it, or replaces the one with its id. */
    put: (record: OwnRecord): void => db.transaction(() => put(record)),
    list: ({ kind, owner, before, limit }: RecordFilter): readonly string[] =>
      db
        .all<{ body: string }>(
          `SELECT body FROM records WHERE kind = $kind AND owner = $owner
             AND ($before IS NULL OR record_id < $before) ORDER BY record_id DESC LIMIT $limit`,
          { kind, owner, before, limit },
        )
        .map(({ body }) => body),
    count({ kind, owner }: Pick<RecordFilter, "kind" | "owner">): number {
      const sql = "SELECT count(*) AS count FROM records WHERE kind = $kind AND owner = $owner";
      return db.get<{ count: number }>(sql, { kind, owner })?.count ?? 0;
    },
    /** Reads and replaces atomically; `change` returns the new body. undefined when there is no such record. */
    change: (key: Key, change: (body: string) => string): string | undefined =>
      db.transaction(() => {
        const body = get(key);
        if (body === undefined) return undefined;
        const next = change(body);
        put({ ...key, body: next });
        return next;
      }),
  };
}
