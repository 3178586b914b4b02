import { timingSafeEqual } from "node:crypto";
import { closeSync, constants, openSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, posix } from "node:path";
import { attempt, Hash } from "@octant/core";
import { z } from "zod";
import { splitPath } from "../confinement.ts";
import { isWithin, type Path } from "../path.ts";
import { syncFolder } from "../sync-folder.ts";
import { ChangedKind } from "./changed-kind.ts";
import { type Disk, realDisk, writeAll } from "./disk.ts";
import { isProtected } from "./protected-paths.ts";
import type { Seal } from "./seal.ts";
import { TempName } from "./temp-name.ts";

/** The planned step for one file, link or folder. Names refer to entries beside the target. */
const Step = z.strictObject({
  target: z.string(),
  kind: ChangedKind.default("file"),
  how: z.enum(["create", "replace", "overwrite", "remove"]),
  before: Hash.nullable(),
  /** The permission bits that belong to `before`. */
  mode: z.int().min(0).max(0o7777).nullable(),
  after: Hash.nullable(),
  /** Gets the new content before it takes the target's place. */
  temp: TempName.nullable(),
  /** Holds the old content until the whole set is committed. */
  backup: TempName.nullable(),
});
export type Step = z.output<typeof Step>;

/** Raise it with every change that an older Octant cannot recover. */
const VERSION = 1;
const Newer = z.object({ version: z.int().min(VERSION + 1) });

const Intention = z.strictObject({
  /** Whether it takes more than one atomic step, so that only the commit decides. */
  isSet: z.boolean(),
  steps: z.array(Step),
  /** Folders created on the way, outermost first. */
  folders: z.array(z.string()),
});

/** Everything that is needed to roll back an unfinished change. */
export type Intention = z.output<typeof Intention>;

/** Records had no version at first. */
const Stored = Intention.extend({ version: z.literal(VERSION).optional() }).transform(
  ({ version: _, ...intention }): Intention => intention,
);

export interface Pending {
  readonly intention: Intention;
  /** The steps whose target was being overwritten, by their position. */
  readonly begun: ReadonlySet<number>;
  /** Whether every step was done and synced, so that only temporary files are left to be removed. */
  readonly committed: boolean;
}

export interface JournalOptions {
  readonly file: string;
  /** Recovery only touches unprotected paths below these. */
  readonly roots: readonly Path[];
  readonly sealOf: Seal;
  warn(message: string): void;
  readonly disk?: Disk;
}

const COMMITTED = "committed";

export type Journal = ReturnType<typeof createJournal>;

/** One change at a time is under way in a workspace, so the journal holds one record or none. Call it under the lock. */
export function createJournal({ file, roots, sealOf, warn, disk = realDisk }: JournalOptions) {
  let opened: number | undefined;
  let length = 0;
  /** Appends a line to the record; durable when it returns. */
  const append = (line: string): void => {
    const bytes = Buffer.from(`${line}\n`);
    try {
      disk.writeSync(descriptor(), bytes, 0, bytes.length, length);
      disk.fdatasyncSync(descriptor());
      length += bytes.length;
    } catch (cause) {
      disk.ftruncateSync(descriptor(), length);
      throw cause;
    }
  };
  const descriptor = (): number => {
    if (opened !== undefined) return opened;
    opened = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    syncFolder(dirname(file));
    return opened;
  };

  const load = (): Buffer => {
    const stat = opened === undefined ? statSync(file, { throwIfNoEntry: false }) : disk.fstatSync(opened);
    const bytes = Buffer.alloc(stat?.size ?? 0);
    if (bytes.length > 0) disk.readSync(descriptor(), bytes, 0, bytes.length, 0);
    return bytes;
  };
  /** Stores the record elsewhere, below a sentence about it, and returns that sentence with the place. */
  const setAside = (state: "damaged" | "unfinished", what: string): string => {
    const kept = `${file}.${state}-${Date.now()}`;
    const said = `${what}; the record was moved to ${kept}`;
    writeFileSync(kept, Buffer.concat([Buffer.from(`${said}\n`), load()]), { mode: 0o600 });
    disk.ftruncateSync(descriptor(), 0);
    warn(said);
    return said;
  };

  return {
    begin(intention: Intention, { durable }: { readonly durable: boolean }): void {
      // A seal, a space, one line of JSON.
      const body = JSON.stringify({ version: VERSION, ...intention });
      const record = Buffer.from(`${sealOf(SEALED_AS + body).toString("hex")} ${body}\n`);
      writeAll(disk, descriptor(), record);
      length = record.length;
      if (durable) disk.fdatasyncSync(descriptor());
    },
    /** Decides the change that began; durable when it returns. */
    commit: (): void => append(COMMITTED),
    /** Notes that a target is overwritten from here on, so that its content may be neither old nor new. */
    overwriting: (step: number): void => append(String(step)),
    clear: (): void => disk.ftruncateSync(descriptor(), 0),
    /** The unfinished change of a dead process. A torn or damaged record is moved aside and ignored. */
    pending(): Pending | undefined {
      const bytes = load();
      if (bytes.length === 0) return undefined;
      const record = parseRecord(bytes, sealOf);
      if (record !== "newer" && record && isOurs(record.intention, roots)) return record;
      if (record === "newer") setAside("unfinished", NEWER);
      else setAside("damaged", "the edit journal was damaged and ignored");
      return undefined;
    },
    /** Gives up the recovery of the pending change; `what` tells a person how to repair it. */
    giveUp: (what: string): string => setAside("unfinished", what),
    /** The sentences about changes that were given up, until a person removes their records. */
    givenUp: (): string[] =>
      readdirSync(dirname(file))
        .filter((name) => name.startsWith(`${basename(file)}.unfinished-`))
        .map((name) => readFileSync(join(dirname(file), name), "utf8").split("\n", 1)[0] ?? ""),
    close(): void {
      if (opened !== undefined) closeSync(opened);
      opened = undefined;
    },
  };
}

/** The same secret seals other texts too, some written by callers; none of those starts like this. */
const SEALED_AS = "*** Octant Journal\n";
const LINE = /^([0-9a-f]{64}) (.+)$/s;

const NEWER =
  "a newer version of Octant left an edit unfinished, which this one cannot recover; compare the files with what you expect";

function parseRecord(bytes: Buffer, sealOf: Seal): Pending | "newer" | undefined {
  const end = bytes.indexOf("\n");
  const [, seal = "", body = ""] = LINE.exec(bytes.toString("utf8", 0, Math.max(end, 0))) ?? [];
  if (body === "" || !timingSafeEqual(sealOf(SEALED_AS + body), Buffer.from(seal, "hex"))) return undefined;
  const stored: unknown = attempt(() => JSON.parse(body));
  if (Newer.safeParse(stored).success) return "newer";
  const intention = Stored.safeParse(stored).data;
  if (!intention) return undefined;
  const lines = bytes.toString("utf8", end + 1).split("\n");
  // It was written once all steps were synced, so even a torn line proves the commit.
  const committed = lines.some((line) => line.startsWith(COMMITTED.charAt(0)));
  // The last line is torn, or empty: the step that it announces did not begin.
  const begun = new Set(
    lines
      .slice(0, -1)
      .filter((line) => /^\d+$/.test(line))
      .map(Number),
  );
  return { intention, begun, committed };
}

/** The seal already proves it, but recovery deletes and renames, so the paths are checked again. */
const isOurs = ({ steps, folders }: Intention, roots: readonly Path[]): boolean =>
  [...steps.map(({ target }) => target), ...folders].every(
    (path) =>
      posix.normalize(path) === path &&
      roots.some((root) => path !== root && isWithin(root, splitPath(path).parent)) &&
      !isProtected(roots, path),
  );
