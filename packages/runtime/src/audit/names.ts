import { hash, randomBytes } from "node:crypto";
import { readdirSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { errnoOf, isAlive, thisProcess } from "@octant/host";

/**
 * A chain is written by one process at a time. Its records are in `CHAIN.0001.jsonl` and so on, and
 * `CHAIN.OWNER.head` holds its position: the name of that file names the writer, so that a chain is taken over by
 * renaming it. Where the oldest parts were dropped, `CHAIN.anchor` holds the start.
 */
export interface AuditFiles {
  readonly parts: ReadonlyMap<string, readonly number[]>;
  readonly heads: readonly HeadFile[];
  /** The chains that have one. */
  readonly anchors: readonly string[];
}

export interface HeadFile {
  readonly chain: string;
  readonly owner: string;
}

/** The owner of a chain that was closed properly. */
export const FREE = "free";

const PART_NAME = /^(\d{8}T\d{9}Z-[0-9a-f]{8})\.(\d{4,})\.jsonl$/;
const HEAD_NAME = /^(\d{8}T\d{9}Z-[0-9a-f]{8})\.(free|\d+_\d*_[0-9a-f]{8})\.head$/;
const ANCHOR_NAME = /^(\d{8}T\d{9}Z-[0-9a-f]{8})\.anchor$/;
const PART_DIGITS = 4;

export const partName = (chain: string, part: number): string =>
  `${chain}.${String(part).padStart(PART_DIGITS, "0")}.jsonl`;
export const headName = ({ chain, owner }: HeadFile): string => `${chain}.${owner}.head`;
export const anchorName = (chain: string): string => `${chain}.anchor`;

export const newChainName = (now: Date): string =>
  `${now.toISOString().replace(/[-:.]/g, "")}-${randomBytes(4).toString("hex")}`;

/** Chains and their parts in order; other files are ignored. */
export function listAuditFiles(folder: string): AuditFiles {
  const names = readdirSync(folder).sort();
  const parts = Map.groupBy(
    names.flatMap((name) => {
      const [, chain, part] = PART_NAME.exec(name) ?? [];
      return chain && part ? [{ chain, part: Number(part) }] : [];
    }),
    ({ chain }) => chain,
  );
  return {
    parts: new Map(
      [...parts].map(([chain, found]) => [chain, found.map(({ part }) => part).sort((a, b) => a - b)]),
    ),
    heads: names.flatMap((name) => {
      const [, chain, owner] = HEAD_NAME.exec(name) ?? [];
      return chain && owner ? [{ chain, owner }] : [];
    }),
    anchors: names.flatMap((name) => ANCHOR_NAME.exec(name)?.[1] ?? []),
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

/** Undefined when the file does not exist: writers rename heads, and retention removes parts. */
export function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}
