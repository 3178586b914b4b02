import { type Hash, newHandle, ToolError } from "@octant/core";
import type { Row, StoreDatabase } from "./store-database.ts";

export interface Artifact {
  readonly artifact_id: string;
  readonly name: string;
  readonly hash: Hash;
  readonly size: number;
  readonly mime: string;
  readonly creator: string;
  readonly created_at: number;
  readonly tags: readonly string[];
  readonly parents: readonly string[];
}

export type NewArtifact = Omit<Artifact, "artifact_id" | "created_at">;

export interface ArtifactFilter {
  /** All of them. */
  readonly tags?: readonly string[] | undefined;
  readonly creator?: string | undefined;
  /** Derived from this one. */
  readonly parent?: string | undefined;
  /** Older than this one; they come newest first. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Named results with their content, tags, creator, and parent artifacts. */
export interface Artifacts {
  add(artifact: NewArtifact, now: number): Artifact;
  get(artifact_id: string): Artifact;
  list(filter: ArtifactFilter): readonly Artifact[];
}

const COLUMNS = "artifact_id, name, hash, size, mime, creator, created_at";

export function createArtifacts(db: StoreDatabase): Artifacts {
  const tagsOf = (artifact_id: string) =>
    db.all("SELECT tag FROM artifact_tags WHERE artifact_id = $artifact_id ORDER BY tag", { artifact_id });
  const parentsOf = (artifact_id: string) =>
    db.all("SELECT parent_id FROM artifact_parents WHERE artifact_id = $artifact_id ORDER BY parent_id", {
      artifact_id,
    });
  const toArtifact = (row: Row): Artifact => {
    const artifact_id = String(row["artifact_id"]);
    return {
      artifact_id,
      name: String(row["name"]),
      hash: String(row["hash"]),
      size: Number(row["size"]),
      mime: String(row["mime"]),
      creator: String(row["creator"]),
      created_at: Number(row["created_at"]),
      tags: tagsOf(artifact_id).map(({ tag }) => String(tag)),
      parents: parentsOf(artifact_id).map(({ parent_id }) => String(parent_id)),
    };
  };
  const get = (artifact_id: string): Artifact => {
    const row = db.get(`SELECT ${COLUMNS} FROM artifacts WHERE artifact_id = $artifact_id`, { artifact_id });
    if (row) return toArtifact(row);
    const message = `there is no artifact ${artifact_id}; artifact.list shows them`;
    throw new ToolError("NOT_FOUND", message, { id: artifact_id });
  };

  return {
    add: ({ tags, parents, ...fields }, now) =>
      db.transaction(() => {
        for (const parent of parents) get(parent);
        const artifact_id = newHandle("artifact", now);
        db.run(
          `INSERT INTO artifacts (${COLUMNS}) VALUES ($artifact_id, $name, $hash, $size, $mime, $creator, $created_at)`,
          { artifact_id, ...fields, created_at: now },
        );
        for (const tag of new Set(tags))
          db.run("INSERT INTO artifact_tags VALUES ($artifact_id, $tag)", { artifact_id, tag });
        for (const parent_id of new Set(parents))
          db.run("INSERT INTO artifact_parents VALUES ($artifact_id, $parent_id)", {
            artifact_id,
            parent_id,
          });
        return get(artifact_id);
      }),
    get,
    list({ tags = [], creator, parent, before, limit }) {
      const wanted = [...new Set(tags)];
      // Each tag is a parameter of its own, so its text is never part of the SQL.
      const tagged = wanted.map(
        (_, n) =>
          `AND EXISTS (SELECT 1 FROM artifact_tags t WHERE t.artifact_id = a.artifact_id AND t.tag = $tag${n})`,
      );
      const rows = db.all(
        `SELECT ${COLUMNS} FROM artifacts a
         WHERE ($creator IS NULL OR creator = $creator) AND ($before IS NULL OR artifact_id < $before)
           AND ($parent IS NULL OR EXISTS
             (SELECT 1 FROM artifact_parents p WHERE p.artifact_id = a.artifact_id AND p.parent_id = $parent))
           ${tagged.join(" ")}
         ORDER BY artifact_id DESC LIMIT $limit`,
        {
          ...{ creator: creator ?? null, before: before ?? null, parent: parent ?? null, limit },
          ...Object.fromEntries(wanted.map((tag, n) => [`tag${n}`, tag])),
        },
      );
      return rows.map(toArtifact);
    },
  };
}
