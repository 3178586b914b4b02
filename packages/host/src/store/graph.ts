import { newHandle, ToolError } from "@octant/core";
import { z } from "zod";
import { toTimestamp } from "../files/timestamp.ts";
import type { StoreDatabase } from "./store-database.ts";

export const IdentityId = z
  .string()
  .regex(/^identity_[0-9a-z]{36}$/, "an identity id is identity_ and 36 letters and digits");

/** A named concept bound to files, symbols and artifacts, and connected to others. */
export const Identity = z.object({
  identity_id: IdentityId,
  name: z.string(),
  created_at: z.iso.datetime(),
  targets: z.array(z.string()),
  tags: z.array(z.string()),
});
type Identity = z.output<typeof Identity>;

export const Connection = z.object({ from: IdentityId, to: IdentityId, kind: z.string() });
type Connection = z.output<typeof Connection>;

export const DIRECTIONS = ["out", "in", "both"] as const;

export interface GraphQuery {
  readonly from: string;
  readonly kind?: string | undefined;
  readonly direction: (typeof DIRECTIONS)[number];
  readonly depth: number;
  readonly limit: number;
}

export interface IdentityFilter {
  /** Part of the name. */
  readonly name?: string | undefined;
  readonly tag?: string | undefined;
  readonly target?: string | undefined;
  /** Later in the order of names. */
  readonly after?: string | undefined;
  readonly limit: number;
}

type Row = Pick<Identity, "identity_id" | "name"> & { readonly created_at: number };

export function createGraph(db: StoreDatabase) {
  const toIdentity = ({ identity_id, name, created_at }: Row): Identity => {
    const valuesOf = (column: string, table: string) =>
      db
        .all<{ value: string }>(
          `SELECT ${column} AS value FROM ${table} WHERE identity_id = $identity_id ORDER BY value`,
          { identity_id },
        )
        .map(({ value }) => value);
    const targets = valuesOf("target", "bindings");
    const tags = valuesOf("tag", "identity_tags");
    return { identity_id, name, created_at: toTimestamp(created_at), targets, tags };
  };
  const get = (identity_id: string): Identity => {
    const row = db.get<Row>("SELECT * FROM identities WHERE identity_id = $identity_id", { identity_id });
    if (row) return toIdentity(row);
    const message = `there is no identity ${identity_id}; graph.find shows them`;
    throw new ToolError("NOT_FOUND", message, { id: identity_id });
  };

  return {
    /** Creates the identity when there is none of that name, and adds the targets. */
    bind: (name: string, targets: readonly string[], now: number): Identity =>
      db.transaction(() => {
        const added = { identity_id: newHandle("identity", now), name, now };
        db.run(
          "INSERT INTO identities VALUES ($identity_id, $name, $now) ON CONFLICT (name) DO NOTHING",
          added,
        );
        const found = db.get<Row>("SELECT * FROM identities WHERE name = $name", { name });
        const { identity_id } = found ?? added;
        const bind = "INSERT INTO bindings VALUES ($identity_id, $target) ON CONFLICT DO NOTHING";
        for (const target of targets) db.run(bind, { identity_id, target });
        return get(identity_id);
      }),
    tag: (identity_id: string, add: readonly string[], remove: readonly string[]): Identity =>
      db.transaction(() => {
        get(identity_id);
        const insert = "INSERT INTO identity_tags VALUES ($identity_id, $tag) ON CONFLICT DO NOTHING";
        for (const tag of add) db.run(insert, { identity_id, tag });
        const drop = "DELETE FROM identity_tags WHERE identity_id = $identity_id AND tag = $tag";
        for (const tag of remove) db.run(drop, { identity_id, tag });
        return get(identity_id);
      }),
    /** Whether there was anything to change. */
    connect: ({ from, to, kind }: Connection, remove: boolean): boolean =>
      db.transaction(() => {
        for (const end of [from, to]) get(end);
        const sql = remove
          ? "DELETE FROM connections WHERE from_id = $from AND to_id = $to AND kind = $kind"
          : "INSERT INTO connections VALUES ($from, $to, $kind) ON CONFLICT DO NOTHING";
        return db.run(sql, { from, to, kind }) > 0;
      }),
    get,
    find: ({ name, tag, target, after, limit }: IdentityFilter): Identity[] =>
      db
        .all<Row>(
          `SELECT * FROM identities i
           WHERE ($name IS NULL OR instr(name, $name) > 0) AND ($after IS NULL OR name > $after)
             AND ($tag IS NULL OR EXISTS
               (SELECT 1 FROM identity_tags t WHERE t.identity_id = i.identity_id AND t.tag = $tag))
             AND ($target IS NULL OR EXISTS
               (SELECT 1 FROM bindings b WHERE b.identity_id = i.identity_id AND b.target = $target))
           ORDER BY name LIMIT $limit`,
          { name, tag, target, after, limit },
        )
        .map(toIdentity),
    /** Identities within reach, nearest first, each once; a cycle ends by itself. */
    query({ from, kind, direction, depth, limit }: GraphQuery) {
      get(from);
      return db
        .all<Row & { distance: number }>(REACHED, { from, kind, direction, depth, limit })
        .map((row) => ({ identity: toIdentity(row), distance: row.distance }));
    },
    connectionsOf: (id: string, limit: number): Connection[] =>
      db.all(
        `SELECT from_id AS "from", to_id AS "to", kind FROM connections WHERE from_id = $id OR to_id = $id
         ORDER BY kind, from_id, to_id LIMIT $limit`,
        { id, limit },
      ),
  };
}

/** UNION drops a row that was there before, at the same distance; the depth bounds the rest. */
const REACHED = `
  WITH RECURSIVE steps (a, b, kind) AS (
    SELECT from_id, to_id, kind FROM connections WHERE $direction IN ('out', 'both')
    UNION ALL SELECT to_id, from_id, kind FROM connections WHERE $direction IN ('in', 'both')
  ), reached (identity_id, distance) AS (
    SELECT $from, 0
    UNION SELECT steps.b, reached.distance + 1 FROM reached JOIN steps ON steps.a = reached.identity_id
    WHERE reached.distance < $depth AND ($kind IS NULL OR steps.kind = $kind)
  )
  SELECT i.*, min(r.distance) AS distance FROM reached r JOIN identities i ON i.identity_id = r.identity_id
  WHERE r.identity_id <> $from GROUP BY i.identity_id ORDER BY distance, i.name LIMIT $limit`;
