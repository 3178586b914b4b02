import { readFileSync, writeFileSync } from "node:fs";

const PAGE_BYTES = 4096;

/** Overwrites every page of a database but the first, which holds the schema, as a failing disk does. */
export function damagePages(file: string, { from = 1, to = Number.POSITIVE_INFINITY } = {}): void {
  const bytes = readFileSync(file);
  bytes.fill(0xa5, from * PAGE_BYTES, Math.min(bytes.length, to * PAGE_BYTES));
  writeFileSync(file, bytes);
}
