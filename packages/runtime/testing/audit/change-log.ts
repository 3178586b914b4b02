import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { chainFile, listChains } from "../../src/audit/tables.ts";

export const logFiles = (folder: string): string[] =>
  listChains(folder).map((chain) => join(folder, chainFile(chain)));

/** Changes the newest chain behind Octant's back. */
export function changeLog(folder: string, sql: string, ...values: SQLInputValue[]): void {
  using db = new DatabaseSync(logFiles(folder).at(-1) as string);
  db.prepare(sql).run(...values);
}
