import { hash, randomBytes } from "node:crypto";
import { readdirSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { errnoOf, isAlive, thisProcess } from "@octant/host";

/**
 * A chain is one file, `CHAIN.jsonl`, that one process writes at a time. `CHAIN.OWNER.head` holds its position: the name
 * of that file names the writer, so that a chain is taken over by renaming it. `CHAIN.dropped` is left of a chain that
 * our retention removed.
 */
export interface AuditFiles {
  /** The chains that have records. */
  readonly chains: readonly string[];
  readonly heads: readonly HeadFile[];
  /** The chains that retention removed. */
  readonly dropped: readonly string[];
}

export interface HeadFile {
  readonly chain: string;
  readonly owner: string;
}

/** The owner of a chain that was closed properly. */
export const FREE = "free";

const NAME = /^(\d{8}T\d{9}Z-[0-9a-f]{8})\.(?:(jsonl|dropped)|(free|\d+_\d*_[0-9a-f]{8})\.head)$/;

export const recordsName = (chain: string): string => `${chain}.jsonl`;
export const headName = ({ chain, owner }: HeadFile): string => `${chain}.${owner}.head`;
export const droppedName = (chain: string): string => `${chain}.dropped`;

export const newChainName = (now: Date): string =>
  `${now.toISOString().replace(/[-:.]/g, "")}-${randomBytes(4).toString("hex")}`;

/** In order; other files are ignored. */
export function listAuditFiles(folder: string): AuditFiles {
  const names = readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const [, chain, kind, owner] = NAME.exec(name) ?? [];
      return chain ? [{ chain, kind, owner }] : [];
    });
  const chainsOf = (wanted: string) => names.flatMap(({ chain, kind }) => (kind === wanted ? [chain] : []));
  return {
    chains: chainsOf("jsonl"),
    heads: names.flatMap(({ chain, owner }) => (owner ? [{ chain, owner }] : [])),
    dropped: chainsOf("dropped"),
  };
}

export const thisOwner = (): string => `${thisProcess().replace(":", "_")}_${thisPlace()}`;

/** Whether the chain's owner is dead. A process on another machine counts as alive. */
export function isAbandoned(owner: string): boolean {
  if (owner === FREE) return true;
  const [pid, start, place] = owner.split("_");
  return place === thisPlace() && !isAlive(`${pid}:${start}`);
}

/** Identifies this machine or container, within which pids are comparable. */
const thisPlace = (): string => hash("sha256", `${hostname()} ${pidNamespace()}`, "hex").slice(0, 8);

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** Undefined when the file does not exist: writers rename heads, and retention removes chains. */
export function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}
