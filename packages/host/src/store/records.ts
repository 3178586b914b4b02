import type { Row, StoreDatabase } from "./store-database.ts";

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

/** Small documents of callers. Each caller has its newest ones of a kind; older ones are dropped. */
export interface Records {
  /** Adds it, or replaces the one with its id. */
  put(record: OwnRecord): void;
  get(key: Omit<OwnRecord, "body">): string | undefined;
  list(filter: RecordFilter): readonly string[];
  count(filter: Pick<RecordFilter, "kind" | "owner">): number;
  /** Reads and replaces atomically; `change` returns the new body. undefined when there is no such record. */
  change(key: Omit<OwnRecord, "body">, change: (body: string) => string): string | undefined;
}

/** Of one kind and owner. */
const MAX_KEPT = 1_000;

export function createRecords(db: StoreDatabase): Records {
  const toKey = ({ record_id, kind, owner }: Omit<OwnRecord, "body">) => ({ record_id, kind, owner });
  const get: Records["get"] = (key) => {
    const row = db.get(
      "SELECT body FROM records WHERE record_id = $record_id AND kind = $kind AND owner = $owner",
      toKey(key),
    );
    return row && toBody(row);
  };
  const put: Records["put"] = (record) => {
    const { kind, owner } = record;
    db.run(
      `INSERT INTO records (record_id, kind, owner, body) VALUES ($record_id, $kind, $owner, $body)
       ON CONFLICT (record_id) DO UPDATE SET body = excluded.body`,
      { ...record },
    );
    db.run(
      `DELETE FROM records WHERE kind = $kind AND owner = $owner AND record_id <=
         (SELECT record_id FROM records WHERE kind = $kind AND owner = $owner
          ORDER BY record_id DESC LIMIT 1 OFFSET ${MAX_KEPT})`,
      { kind, owner },
    );
  };
  return {
    get,
    put: (record) => db.transaction(() => put(record)),
    list: ({ kind, owner, before, limit }) =>
      db
        .all(
          `SELECT body FROM records WHERE kind = $kind AND owner = $owner
             AND ($before IS NULL OR record_id < $before) ORDER BY record_id DESC LIMIT $limit`,
          { kind, owner, before: before ?? null, limit },
        )
        .map(toBody),
    count: ({ kind, owner }) =>
      Number(
        db.get("SELECT count(*) AS count FROM records WHERE kind = $kind AND owner = $owner", {
          kind,
          owner,
        })?.["count"],
      ),
    change: (key, change) =>
      db.transaction(() => {
        const body = get(key);
        if (body === undefined) return undefined;
        const next = change(body);
        put({ ...toKey(key), body: next });
        return next;
      }),
  };
}

const toBody = (row: Row): string => String(row["body"]);
