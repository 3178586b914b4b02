import { setTimeout as delay } from "node:timers/promises";
import { errnoOf } from "@octant/host";
import { type Head, loadHead } from "./head.ts";
import { type HeadFile, isAbandoned, listAuditFiles } from "./names.ts";
import type { AuditKey } from "./seal.ts";

export interface SteadyHead {
  readonly owner: string;
  /** Undefined when it was changed. */
  readonly known: Head | undefined;
  /** How many heads the chain has; it should be one. */
  readonly count: number;
}

const TRIES = 5;
const PAUSE_MS = 10;

/** A head may be renamed or rewritten during the check, so an apparent problem is checked again. */
export async function loadSteadyHead(
  folder: string,
  key: AuditKey,
  chain: string,
): Promise<SteadyHead | undefined> {
  for (let tries = 1; ; tries++) {
    const files = listAuditFiles(folder).heads.filter((head) => head.chain === chain);
    const [file] = files;
    const head = file ? loadUnlessGone(folder, key, file) : "gone";
    // A chain without a writer is not half written.
    const isFinal = head !== "gone" && (head !== undefined || (file && isAbandoned(file.owner)));
    if (isFinal || tries === TRIES)
      return file && { owner: file.owner, known: head === "gone" ? undefined : head, count: files.length };
    await delay(PAUSE_MS);
  }
}

function loadUnlessGone(folder: string, key: AuditKey, file: HeadFile): Head | "gone" | undefined {
  try {
    return loadHead(folder, file, key);
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return "gone";
    throw cause;
  }
}
