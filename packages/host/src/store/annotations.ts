import { newHandle } from "@octant/core";
import type { Row, StoreDatabase } from "./store-database.ts";

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

/** Remarks about files, symbols, artifacts and identities. */
export interface Annotations {
  add(annotation: Omit<Annotation, "annotation_id" | "created_at">, now: number): Annotation;
  list(filter: AnnotationFilter): readonly Annotation[];
}

const COLUMNS = "annotation_id, target, text, kind, author, created_at";

export function createAnnotations(db: StoreDatabase): Annotations {
  return {
    add(fields, now) {
      const annotation = { annotation_id: newHandle("annotation", now), ...fields, created_at: now };
      db.run(
        `INSERT INTO annotations (${COLUMNS}) VALUES ($annotation_id, $target, $text, $kind, $author, $created_at)`,
        annotation,
      );
      return annotation;
    },
    list: ({ target, kind, before, limit }) =>
      db
        .all(
          `SELECT ${COLUMNS} FROM annotations
           WHERE ($target IS NULL OR target = $target) AND ($kind IS NULL OR kind = $kind)
             AND ($before IS NULL OR annotation_id < $before)
           ORDER BY annotation_id DESC LIMIT $limit`,
          { target: target ?? null, kind: kind ?? null, before: before ?? null, limit },
        )
        .map(toAnnotation),
  };
}

const toAnnotation = (row: Row): Annotation => ({
  annotation_id: String(row["annotation_id"]),
  target: String(row["target"]),
  text: String(row["text"]),
  kind: String(row["kind"]),
  author: String(row["author"]),
  created_at: Number(row["created_at"]),
});
