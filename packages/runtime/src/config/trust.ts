import { counted, ToolError } from "@octant/core";
import { replaceFile } from "@octant/host";
import type { ProjectTierName, WaitingForTrust } from "./config.ts";
import { fieldsOf } from "./dictionary.ts";
import { JsoncError, parseJsonc } from "./jsonc.ts";
import { whileLocked } from "./locked.ts";
import { type Person, PROJECT_TIERS, realPlace, trustFile, type UserFolder, userFolder } from "./places.ts";
import { readSettingsFile } from "./read-file.ts";
import { SettingsError } from "./settings-error.ts";

/** One file's content that the person has trusted. */
export interface Trusted {
  /** The real path of the project's folder. */
  readonly folder: string;
  readonly tier: TrustedPart;
  readonly hash: string;
  /** ISO 8601. */
  readonly trusted_at: string;
}

/** A settings file of the project, a file with instructions for agents, by its path in the folder, or a pack. */
export type TrustedPart = ProjectTierName | `instructions:${string}` | typeof PACK;

/** Trusts exactly the shown content: `waiting` comes from the Config whose parts the person has seen. */
export async function trustFolder(
  waiting: readonly Omit<Trusted, "trusted_at">[],
  person: Person,
): Promise<void> {
  await changeTrust(userFolder(person), (all) => remember(all, waiting));
}

/** Forgets all trust in a folder; says whether there was any. */
export async function revokeTrust(folder: string, person: Person): Promise<boolean> {
  const real = realPlace(folder);
  const isOther = (one: Trusted) => one.folder !== real && one.folder !== folder;
  let had = false;
  await changeTrust(userFolder(person), (all) => {
    had = !all.every(isOther);
    return all.filter(isOther);
  });
  return had;
}

/** All trusted content, in the order in which it was trusted. */
export const listTrust = (person: Person): readonly Trusted[] => loadTrust(userFolder(person)).trusted;

/** The error for untrusted settings and instruction files. It names them without their content. */
export function untrustedError(
  waiting: readonly WaitingForTrust[],
  files: readonly string[] = [],
): ToolError<"UNTRUSTED_CONFIG"> {
  const settings = waiting.flatMap(({ tier, parts }) => parts.map(({ key }) => `${tier}: ${key}`));
  const names = [...settings, ...files];
  return new ToolError(
    "UNTRUSTED_CONFIG",
    `settings or instructions of the project are not trusted yet: ${names.join(", ")}; ` +
      "`octant trust` in a terminal shows them in full and asks",
    { waiting: names },
  );
}

const PACK = "pack";

/** Whether the person has accepted a pack of their own settings with exactly this content. */
export const isAcceptedPack = (pack: AcceptedPack, person: Person): boolean =>
  isRemembered(loadTrust(userFolder(person)).trusted, { ...pack, tier: PACK });

/** Accepts the content that the person has seen. */
export const acceptPack = (pack: AcceptedPack, person: Person): Promise<void> =>
  trustFolder([{ ...pack, tier: PACK }], person);

export type AcceptedPack = Pick<Trusted, "folder" | "hash">;

export interface TrustStore {
  readonly trusted: readonly Trusted[];
  readonly warnings: readonly string[];
  /** Entries of another version; they have no effect and stay in the file. */
  readonly other?: readonly unknown[];
  readonly isNewer?: boolean;
}

const VERSION = 1;

/** A damaged or unsafe file counts as no trust. */
export function loadTrust(folder: UserFolder): TrustStore {
  const file = trustFile(folder);
  try {
    const found = readSettingsFile(file);
    if (!found) return { trusted: [], warnings: [] };
    if (isWritableByOthers(found.stat)) return noTrust("other users can write to it; run chmod 600 on it");
    const { version, trusted } = fieldsOf(parseJsonc(found.text).value);
    if (typeof version === "number" && version > VERSION)
      return { ...noTrust("a newer version of Octant wrote it; update Octant"), isNewer: true };
    if (!Array.isArray(trusted)) return noTrust("its content is not valid");
    const [known, other] = [trusted.filter(isTrusted), trusted.filter((one) => !isTrusted(one))];
    if (other.length === 0) return { trusted: known, warnings: [] };
    const { warnings } = noTrust(`${counted(other.length, "entry", "entries")} of another version`);
    return { trusted: known, other, warnings };
  } catch (cause) {
    if (cause instanceof SettingsError || cause instanceof JsoncError) return noTrust(cause.message);
    throw cause;
  }
}

const noTrust = (why: string): TrustStore => ({
  trusted: [],
  warnings: [`trust.json in your settings folder does not count: ${why}`],
});

export const isWritableByOthers = (stat: { readonly mode: number; readonly uid: number }): boolean => {
  const me = process.getuid?.();
  return me !== undefined && ((stat.mode & OTHERS_CAN_WRITE) !== 0 || (stat.uid !== me && stat.uid !== ROOT));
};

const OTHERS_CAN_WRITE = 0o022;
const ROOT = 0;

const isTrusted = (one: unknown): one is Trusted => {
  const { folder, tier, hash, trusted_at } = fieldsOf(one);
  return (
    [folder, hash, trusted_at].every((value) => typeof value === "string") &&
    typeof tier === "string" &&
    (PROJECT_TIERS.some((one) => one === tier) || tier === PACK || tier.startsWith("instructions:"))
  );
};

/** One writer at a time; `change` sees the others' writes. */
export const changeTrust = (
  folder: UserFolder,
  change: (all: readonly Trusted[]) => readonly Trusted[],
): Promise<void> =>
  whileLocked(folder, "trust", () => {
    const { trusted: before, other = [], isNewer = false } = loadTrust(folder);
    if (isNewer)
      throw new ToolError("IO_ERROR", "a newer version of Octant wrote trust.json; update Octant", {});
    const after = change(before);
    if (after === before) return;
    const trusted = [...other, ...after].slice(-MAX_TRUSTED);
    const text = `${JSON.stringify({ version: VERSION, trusted }, null, 2)}\n`;
    replaceFile(trustFile(folder).path, text, { mode: 0o600 });
  });

// Keeps the file far below the read limit.
const MAX_TRUSTED = 1_000;

export const isRemembered = (
  all: readonly Trusted[],
  { folder, tier, hash }: Omit<Trusted, "trusted_at">,
): boolean => all.some((one) => one.folder === folder && one.tier === tier && one.hash === hash);

/** Replaces earlier trust for the same files. */
export function remember(
  all: readonly Trusted[],
  added: readonly Omit<Trusted, "trusted_at">[],
): readonly Trusted[] {
  const isReplaced = (old: Trusted) =>
    added.some(({ folder, tier }) => folder === old.folder && tier === old.tier);
  const trusted_at = new Date().toISOString();
  return [
    ...all.filter((old) => !isReplaced(old)),
    ...added.map(({ folder, tier, hash }) => ({ folder, tier, hash, trusted_at })),
  ];
}

/** A file with instructions for agents, in a folder of the workspace. */
export interface InstructionContent {
  readonly folder: string;
  /** From the folder. */
  readonly path: string;
  /** Of its bytes. */
  readonly hash: string;
}

const toTrusted = ({ folder, path, hash }: InstructionContent) => ({
  folder: realPlace(folder),
  tier: `instructions:${path}` as const,
  hash,
});

/** Returns the files that the person has trusted with exactly this content. */
export function createInstructionTrust(person: Person): (file: InstructionContent) => boolean {
  const { trusted } = loadTrust(userFolder(person));
  return (file) => isRemembered(trusted, toTrusted(file));
}

/** Trusts the current contents of the files. */
export const trustInstructions = (files: readonly InstructionContent[], person: Person): Promise<void> =>
  trustFolder(files.map(toTrusted), person);
