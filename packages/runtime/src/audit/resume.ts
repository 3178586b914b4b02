import { renameSync } from "node:fs";
import { join } from "node:path";
import { ChainCheck } from "./chain-check.ts";
import { type Head, loadHead } from "./chain-files.ts";
import { readLines } from "./lines.ts";
import { type HeadFile, headName, isAbandoned, listAuditFiles, recordsName, unlessGone } from "./names.ts";
import type { AuditKey } from "./seal.ts";

/** The chains as far as their heads say, with those that others write. */
export function loadHeads(folder: string, key: AuditKey): (Head & HeadFile)[] {
  const { heads, dropped } = listAuditFiles(folder);
  return heads
    .filter(({ chain }) => !dropped.includes(chain))
    .flatMap((file) => {
      const head = unlessGone(() => loadHead(folder, file, key));
      return head ? [{ ...head, ...file }] : [];
    });
}

/** Claims an abandoned chain and returns its end; undefined when another was faster, or the chain was tampered with. */
export function claimChain(
  folder: string,
  key: AuditKey,
  file: HeadFile,
  owner: string,
): ChainEnd | undefined {
  if (!isAbandoned(file.owner)) return undefined;
  const theirs = join(folder, headName(file));
  const ours = join(folder, headName({ chain: file.chain, owner }));
  // Of several contenders, one succeeds.
  if (unlessGone(() => renameSync(theirs, ours) ?? true) === undefined) return undefined;
  const end = findEnd(folder, key, { chain: file.chain, owner });
  if (!end) renameSync(ours, theirs);
  return end;
}

export interface ChainEnd extends Head {
  /** What follows, when its last writer was killed while it wrote a record. */
  readonly torn: Buffer;
}

/** A killed writer may have written more than its head says. */
function findEnd(folder: string, key: AuditKey, file: HeadFile): ChainEnd | undefined {
  const head = loadHead(folder, file, key);
  const path = join(folder, recordsName(file.chain));
  // Its writer may have been killed before the first record.
  const read = head && (unlessGone(() => readLines(path, head.size)) ?? (head.size === 0 && NO_LINES));
  if (!read) return undefined;
  const { lines, rest: torn, size } = read;
  let sound = true;
  const check = new ChainCheck(key, head, () => {
    sound = false;
  });
  for (const line of lines) check.line(line);
  return sound ? { chain: file.chain, ...check.position, size: size - torn.length, torn } : undefined;
}

const NO_LINES: NonNullable<ReturnType<typeof readLines>> = { lines: [], rest: Buffer.alloc(0), size: 0 };
