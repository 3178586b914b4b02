import { readFileSync, writeFileSync } from "node:fs";

const PAGE_BYTES = 4096;

/** Overwrites every page of a database but the first, which holds the schema, as a failing disk does. */
export function damagePages(file: string): void {
  writeFileSync(file, readFileSync(file).fill(0xa5, PAGE_BYTES));
}
