import { Hash, newHandle, ToolError } from "@octant/core";
import { z } from "zod";
import { toTimestamp } from "../files/timestamp.ts";
import type { StoreDatabase } from "./store-database.ts";

export const ArtifactId = z
  .string()
  .regex(/^artifact_[0-9a-z]{36}$/, "an artifact id is artifact_ and 36 letters and digits");

export const Artifact = z.object({
  artifact_id: ArtifactId,
  name: z.string(),
  hash: Hash,
  size: z.int(),
  mime: z.string(),
  creator: z.string(),
  created_at: z.iso.datetime(),
  tags: z.array(z.string()),
  parents: z.array(ArtifactId),
});
type Artifact = z.output<typeof Artifact>;

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

const COLUMNS = "artifact_id, name, hash, size, mime, creator, created_at";
type Row = Omit<Artifact, "created_at" | "tags" | "parents"> & { readonly created_at: number };

/** Named results with their content, tags, creator, and parent artifacts. */
export function createArtifacts(db: StoreDatabase) {
  const toArtifact = (row: Row): Artifact => {
    const { artifact_id } = row;
    const tags = db.all<{ tag: string }>(
      "SELECT tag FROM artifact_tags WHERE artifact_id = $artifact_id ORDER BY tag",
      { artifact_id },
    );
    const parents = db.all<{ parent_id: string }>(
      "SELECT parent_id FROM artifact_parents WHERE artifact_id = $artifact_id ORDER BY parent_id",
      { artifact_id },
    );
    return {
      ...row,
      created_at: toTimestamp(row.created_at),
      tags: tags.map(({ tag }) => tag),
      parents: parents.map(({ parent_id }) => parent_id),
    };
  };
  const get = (artifact_id: string): Artifact => {
    const sql = `SELECT ${COLUMNS} FROM artifacts WHERE artifact_id = $artifact_id`;
    const row = db.get<Row>(sql, { artifact_id });
    if (row) return toArtifact(row);
    const message = `there is no artifact ${artifact_id}; artifact.list shows them`;
    throw new ToolError("NOT_FOUND", message, { id: artifact_id });
  };

  return {
    add: (
      { tags, parents, ...fields }: Omit<Artifact, "artifact_id" | "created_at">,
      now: number,
    ): Artifact =>
      db.transaction(() => {
        for (const parent of parents) get(parent);
        const artifact_id = newHandle("artifact", now);
        db.run(
          `INSERT INTO artifacts (${COLUMNS}) VALUES ($artifact_id, $name, $hash, $size, $mime, $creator, $created_at)`,
          { artifact_id, ...fields, created_at: now },
        );
        for (const tag of new Set(tags))
          db.run("INSERT INTO artifact_tags VALUES ($artifact_id, $tag)", { artifact_id, tag });
        const addParent = "INSERT INTO artifact_parents VALUES ($artifact_id, $parent_id)";
        for (const parent_id of new Set(parents)) db.run(addParent, { artifact_id, parent_id });
        return get(artifact_id);
      }),
    get,
    list({ tags = [], creator, parent, before, limit }: ArtifactFilter): Artifact[] {
      const wanted = [...new Set(tags)];
      // Each tag is a parameter of its own, so its text is never part of the SQL.
      const tagged = wanted.map(
        (_, n) =>
          `AND EXISTS (SELECT 1 FROM artifact_tags t WHERE t.artifact_id = a.artifact_id AND t.tag = $tag${n})`,
      );
      const rows = db.all<Row>(
        `SELECT ${COLUMNS} FROM artifacts a
         WHERE ($creator IS NULL OR creator = $creator) AND ($before IS NULL OR artifact_id < $before)
           AND ($parent IS NULL OR EXISTS
             (SELECT 1 FROM artifact_parents p WHERE p.artifact_id = a.artifact_id AND p.parent_id = $parent))
           ${tagged.join(" ")}
         ORDER BY artifact_id DESC LIMIT $limit`,
        { creator, before, parent, limit, ...Object.fromEntries(wanted.map((tag, n) => [`tag${n}`, tag])) },
      );
      return rows.map(toArtifact);
    },
  };
}
