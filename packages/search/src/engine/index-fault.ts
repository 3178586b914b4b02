import { rmSync } from "node:fs";

/** Why an index on disk is unusable: it must be rebuilt, or the disk rejects writes. */
export type IndexFault = "damaged" | "unwritable";

/** SQLite result codes; the low byte is the kind. */
const FAULTS: Readonly<Record<number, IndexFault>> = {
  8: "unwritable", // SQLITE_READONLY
  10: "unwritable", // SQLITE_IOERR
  11: "damaged", // SQLITE_CORRUPT
  13: "unwritable", // SQLITE_FULL
  14: "unwritable", // SQLITE_CANTOPEN
  26: "damaged", // SQLITE_NOTADB
};

export const faultOf = (cause: unknown): IndexFault | undefined => FAULTS[(errcodeOf(cause) ?? 0) & 0xff];

/** The result code of an SQLite error. */
export const errcodeOf = (cause: unknown): number | undefined =>
  cause instanceof Error && "errcode" in cause && typeof cause.errcode === "number"
    ? cause.errcode
    : undefined;

export function removeIndexFile(file: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
}
