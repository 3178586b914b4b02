import { renameSync } from "node:fs";
import { join } from "node:path";
import { ChainCheck } from "./chain-check.ts";
import { type Head, loadHead } from "./chain-files.ts";
import { readLines } from "./lines.ts";
import { type HeadFile, headName, isAbandoned, listAuditFiles, partName, unlessGone } from "./names.ts";
import type { TornPiece } from "./record.ts";
import type { AuditKey } from "./seal.ts";

/** Where to resume a chain, and the torn record of its last writer. */
export interface Resumed extends Head {
  readonly torn: readonly TornPiece[];
}

/** How far the chains have come, those that others write too. */
export function otherChains(folder: string, key: AuditKey): ReadonlyMap<string, number> {
  const heads = listAuditFiles(folder).heads.flatMap(
    (file) => unlessGone(() => loadHead(folder, file, key)) ?? [],
  );
  return new Map(heads.map(({ chain, seq }) => [chain, seq]));
}

/** Claims an abandoned chain; undefined when there is none. A tampered chain is left alone. */
export function resumeChain(folder: string, key: AuditKey, owner: string): Resumed | undefined {
  for (const file of listAuditFiles(folder).heads.filter((head) => isAbandoned(head.owner))) {
    const theirs = join(folder, headName(file));
    const ours = join(folder, headName({ chain: file.chain, owner }));
    // Of several contenders, one succeeds.
    if (unlessGone(() => renameSync(theirs, ours) ?? true) === undefined) continue;
    const resumed = findEnd(folder, key, { chain: file.chain, owner });
    if (resumed) return resumed;
    renameSync(ours, theirs);
  }
  return undefined;
}

/** A killed writer may have written more than its head says. */
function findEnd(folder: string, key: AuditKey, file: HeadFile): Resumed | undefined {
  const head = loadHead(folder, file, key);
  if (!head) return undefined;
  let sound = true;
  const check = new ChainCheck(key, head, () => {
    sound = false;
  });
  const { chain } = head;
  const parts = (listAuditFiles(folder).parts.get(chain) ?? []).filter((part) => part >= head.part);
  if (head.size > 0 && parts[0] !== head.part) return undefined;
  let end = { part: head.part, size: head.size };
  for (const part of parts) {
    const from = part === head.part ? head.size : 0;
    const read = readLines(join(folder, partName(chain, part)), from);
    if (!read) return undefined;
    const { lines, rest, size } = read;
    for (const line of lines) check.line(line);
    if (rest.length > 0) check.piece(part, rest);
    end = rest.length > 0 ? { part: part + 1, size: 0 } : { part, size };
  }
  return sound ? { chain, ...check.position, ...end, torn: check.pieces } : undefined;
}
