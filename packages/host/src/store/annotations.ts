import { newHandle } from "@octant/core";
import type { StoreDatabase } from "./store-database.ts";

export interface Annotation {
  readonly annotation_id: string;
  /** A file URI, symbol_id, artifact_id, hash or identity. */
  readonly target: string;
  readonly text: string;
  readonly kind: string;
  readonly author: string;
  readonly created_at: number;
}

export interface AnnotationFilter {
  readonly target?: string | undefined;
  readonly kind?: string | undefined;
  /** Older than this one; they come newest first. */
  readonly before?: string | undefined;
  readonly limit: number;
}

const COLUMNS = "annotation_id, target, text, kind, author, created_at";

/** Remarks about files, symbols, artifacts and identities. */
export const createAnnotations = (db: StoreDatabase) => ({
  add(fields: Omit<Annotation, "annotation_id" | "created_at">, now: number): Annotation {
    const annotation = { annotation_id: newHandle("annotation", now), ...fields, created_at: now };
    db.run(
      `INSERT INTO annotations (${COLUMNS}) VALUES ($annotation_id, $target, $text, $kind, $author, $created_at)`,
      annotation,
    );
    return annotation;
  },
  list: ({ target, kind, before, limit }: AnnotationFilter): readonly Annotation[] =>
    db.all(
      `SELECT ${COLUMNS} FROM annotations
       WHERE ($target IS NULL OR target = $target) AND ($kind IS NULL OR kind = $kind)
         AND ($before IS NULL OR annotation_id < $before)
       ORDER BY annotation_id DESC LIMIT $limit`,
      { target, kind, before, limit },
    ),
});
