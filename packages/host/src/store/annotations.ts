import { handle, newHandle } from "@octant/core";
import { z } from "zod";
import { toTimestamp } from "../files/timestamp.ts";
import type { StoreDatabase } from "./store-database.ts";

export const Annotation = z.object({
  annotation_id: handle("annotation"),
  /** A file URI, symbol_id, artifact_id, hash or identity. */
  target: z.string(),
  text: z.string(),
  kind: z.string(),
  author: z.string(),
  created_at: z.iso.datetime(),
});
type Annotation = z.output<typeof Annotation>;
type Row = Omit<Annotation, "created_at"> & { readonly created_at: number };

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
    const row = { annotation_id: newHandle("annotation", now), ...fields, created_at: now };
    db.run(
      `INSERT INTO annotations (${COLUMNS}) VALUES ($annotation_id, $target, $text, $kind, $author, $created_at)`,
      row,
    );
    return toAnnotation(row);
  },
  list: ({ target, kind, before, limit }: AnnotationFilter): Annotation[] =>
    db
      .all<Row>(
        `SELECT ${COLUMNS} FROM annotations
         WHERE ($target IS NULL OR target = $target) AND ($kind IS NULL OR kind = $kind)
           AND ($before IS NULL OR annotation_id < $before)
         ORDER BY annotation_id DESC LIMIT $limit`,
        { target, kind, before, limit },
      )
      .map(toAnnotation),
});

const toAnnotation = (row: Row): Annotation => ({ ...row, created_at: toTimestamp(row.created_at) });
