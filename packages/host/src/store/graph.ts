import { newHandle, ToolError } from "@octant/core";
import type { Row, StoreDatabase } from "./store-database.ts";

/** A named concept bound to files, symbols and artifacts, and connected to others. */
export interface Identity {
  readonly identity_id: string;
  readonly name: string;
  readonly created_at: number;
  readonly targets: readonly string[];
  readonly tags: readonly string[];
}

export interface Connection {
  readonly from: string;
  readonly to: string;
  readonly kind: string;
}

export const DIRECTIONS = ["out", "in", "both"] as const;
export type Direction = (typeof DIRECTIONS)[number];

export interface GraphQuery {
  readonly from: string;
  readonly kind?: string | undefined;
  readonly direction: Direction;
  readonly depth: number;
  readonly limit: number;
}

export interface Reached {
  readonly identity: Identity;
  /** How many connections away. */
  readonly distance: number;
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

export interface Graph {
  /** Creates the identity when there is none of that name, and adds the targets. */
  bind(name: string, targets: readonly string[], now: number): Identity;
  tag(identity_id: string, add: readonly string[], remove: readonly string[]): Identity;
  /** Whether there was anything to change. */
  connect(connection: Connection, remove: boolean): boolean;
  get(identity_id: string): Identity;
  find(filter: IdentityFilter): readonly Identity[];
  /** Identities within reach, nearest first, each once; a cycle ends by itself. */
  query(query: GraphQuery): readonly Reached[];
  connectionsOf(identity_id: string, limit: number): readonly Connection[];
}

export function createGraph(db: StoreDatabase): Graph {
  const column = (sql: string, identity_id: string) =>
    db.all(sql, { identity_id }).map((row) => String(Object.values(row)[0]));
  const toIdentity = (row: Row): Identity => {
    const identity_id = String(row["identity_id"]);
    return {
      identity_id,
      name: String(row["name"]),
      created_at: Number(row["created_at"]),
      targets: column(
        "SELECT target FROM bindings WHERE identity_id = $identity_id ORDER BY target",
        identity_id,
      ),
      tags: column(
        "SELECT tag FROM identity_tags WHERE identity_id = $identity_id ORDER BY tag",
        identity_id,
      ),
    };
  };
  const get = (identity_id: string): Identity => {
    const row = db.get("SELECT * FROM identities WHERE identity_id = $identity_id", { identity_id });
    if (row) return toIdentity(row);
    throw new ToolError("NOT_FOUND", `there is no identity ${identity_id}; graph.find shows them`, {
      id: identity_id,
    });
  };

  return {
    bind: (name, targets, now) =>
      db.transaction(() => {
        db.run("INSERT INTO identities VALUES ($identity_id, $name, $now) ON CONFLICT (name) DO NOTHING", {
          identity_id: newHandle("identity", now),
          name,
          now,
        });
        const row = db.get("SELECT identity_id FROM identities WHERE name = $name", { name });
        const identity_id = String(row?.["identity_id"]);
        for (const target of targets)
          db.run("INSERT INTO bindings VALUES ($identity_id, $target) ON CONFLICT DO NOTHING", {
            identity_id,
            target,
          });
        return get(identity_id);
      }),
    tag: (identity_id, add, remove) =>
      db.transaction(() => {
        get(identity_id);
        for (const tag of add)
          db.run("INSERT INTO identity_tags VALUES ($identity_id, $tag) ON CONFLICT DO NOTHING", {
            identity_id,
            tag,
          });
        for (const tag of remove)
          db.run("DELETE FROM identity_tags WHERE identity_id = $identity_id AND tag = $tag", {
            identity_id,
            tag,
          });
        return get(identity_id);
      }),
    connect: ({ from, to, kind }, remove) =>
      db.transaction(() => {
        for (const end of [from, to]) get(end);
        const sql = remove
          ? "DELETE FROM connections WHERE from_id = $from AND to_id = $to AND kind = $kind"
          : "INSERT INTO connections VALUES ($from, $to, $kind) ON CONFLICT DO NOTHING";
        return db.run(sql, { from, to, kind }) > 0;
      }),
    get,
    find: ({ name, tag, target, after, limit }) =>
      db
        .all(
          `SELECT * FROM identities i
           WHERE ($name IS NULL OR instr(name, $name) > 0) AND ($after IS NULL OR name > $after)
             AND ($tag IS NULL OR EXISTS
               (SELECT 1 FROM identity_tags t WHERE t.identity_id = i.identity_id AND t.tag = $tag))
             AND ($target IS NULL OR EXISTS
               (SELECT 1 FROM bindings b WHERE b.identity_id = i.identity_id AND b.target = $target))
           ORDER BY name LIMIT $limit`,
          { name: name ?? null, tag: tag ?? null, target: target ?? null, after: after ?? null, limit },
        )
        .map(toIdentity),
    query({ from, kind, direction, depth, limit }) {
      get(from);
      return db
        .all(REACHED, { from, kind: kind ?? null, direction, depth, limit })
        .map((row) => ({ identity: toIdentity(row), distance: Number(row["distance"]) }));
    },
    connectionsOf: (id, limit) =>
      db
        .all(
          `SELECT from_id, to_id, kind FROM connections WHERE from_id = $id OR to_id = $id
           ORDER BY kind, from_id, to_id LIMIT $limit`,
          { id, limit },
        )
        .map((row) => ({
          from: String(row["from_id"]),
          to: String(row["to_id"]),
          kind: String(row["kind"]),
        })),
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
