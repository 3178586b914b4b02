import type { Path } from "../path.ts";
import { CHANGE_KINDS, type ChangeKind } from "./parse-status.ts";
import { quoteName, unquoteName } from "./quoted-name.ts";

/** The effect of a diff on one file. */
export interface ChangedFile {
  /** From the repository's folder. */
  readonly name: Path;
  readonly oldName?: Path;
  readonly kind: ChangeKind | "conflict";
  readonly oldMode: string;
  readonly newMode: string;
  /** null for binary files. */
  readonly added: number | null;
  readonly removed: number | null;
}

/** With the part of the patch that does it. */
export interface FileDiff extends ChangedFile {
  /** None when there is nothing to apply, two when it became something else, such as a link. */
  readonly parts: readonly Buffer[];
}

/**
 * Parses the output of `git diff --raw --patch`: one line per file, then the patches in the same order. `prefix` is
 * the text that git puts between a/ or b/ and the names.
 */
export function parseDiff(output: Buffer, prefix: Path): FileDiff[] {
  const start = patchStart(output);
  const lines = output.toString("latin1", 0, start).split("\n");
  const entries = lines.filter((line) => line.startsWith(":")).map(parseRaw);
  const sections = splitSections(output.subarray(start));
  let next = 0;
  const takeSection = (entry: RawEntry): Buffer[] => {
    const isIts = sections[next]?.header === headerOf(entry, prefix);
    return isIts ? [sections[next++]!.bytes] : [];
  };
  const conflicts = new Set(entries.filter(({ letter }) => letter === "U").map(({ name }) => name));
  const files = entries
    .filter(({ letter }) => letter !== "U")
    .map((entry): FileDiff => {
      // One that became something else, as a link, is a deletion and a creation.
      const parts = [...takeSection(entry), ...(entry.letter === "T" ? takeSection(entry) : [])];
      const { letter: _letter, ...file } = entry;
      const kind = conflicts.delete(entry.name) ? "conflict" : file.kind;
      return { ...file, kind, ...countLines(Buffer.concat(parts)), parts };
    });
  return [...files, ...[...conflicts].map(unmerged)];
}

const unmerged = (name: Path): FileDiff => ({
  name,
  kind: "conflict",
  oldMode: "000000",
  newMode: "000000",
  added: null,
  removed: null,
  parts: [],
});

interface RawEntry extends Omit<ChangedFile, "added" | "removed"> {
  readonly letter: string;
}

/** `:100644 100644 OLD NEW R100<TAB>old name<TAB>new name`; git quotes names that hold a tab. */
function parseRaw(line: string): RawEntry {
  const [facts = "", first = "", second] = line.split("\t");
  const names = second === undefined ? ([first] as const) : ([second, unquoteName(first)] as const);
  return { ...toChangedFile(facts, unquoteName(names[0]), names[1]), letter: letterOf(facts) };
}

/** From `:100644 100644 OLD NEW R100`. */
export function toChangedFile(
  facts: string,
  name: Path,
  oldName?: Path,
): Omit<ChangedFile, "added" | "removed"> {
  const [oldMode = "", newMode = ""] = facts.slice(1).split(" ");
  const kind = CHANGE_KINDS[letterOf(facts)] ?? "conflict";
  return { name, ...(oldName !== undefined && { oldName }), kind, oldMode, newMode };
}

const letterOf = (facts: string): string => facts.split(" ")[4]?.[0] ?? "";

/** Lines that come and go; null for binary files. A file that only moved or changed its mode has none. */
function countLines(patch: Buffer): { added: number | null; removed: number | null } {
  if (patch.includes("\nGIT binary patch\n")) return { added: null, removed: null };
  let [added, removed] = [0, 0];
  let isHunk = false;
  for (let at = 0; at < patch.length; at = lineEnd(patch, at)) {
    const sign = patch[at];
    // A file that became a link has two headers.
    if (sign === D) isHunk = false;
    else if (sign === AT) isHunk = true;
    else if (isHunk && sign === PLUS) added++;
    else if (isHunk && sign === MINUS) removed++;
  }
  return { added, removed };
}

const [D, AT, PLUS, MINUS] = [..."d@+-"].map((char) => char.charCodeAt(0));

function lineEnd(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(10, at);
  return end < 0 ? bytes.length : end + 1;
}

const HEADER = Buffer.from("diff --git ");
const NEXT_HEADER = Buffer.from("\ndiff --git ");

function patchStart(output: Buffer): number {
  if (output.subarray(0, HEADER.length).equals(HEADER)) return 0;
  const at = output.indexOf(NEXT_HEADER);
  return at < 0 ? output.length : at + 1;
}

/** No line inside a file's part starts with `diff --git `: lines of a hunk start with a sign, binary ones have no space. */
function splitSections(patch: Buffer): { header: string; bytes: Buffer }[] {
  const sections: { header: string; bytes: Buffer }[] = [];
  for (let start = 0; start < patch.length; ) {
    const next = patch.indexOf(NEXT_HEADER, start);
    const end = next < 0 ? patch.length : next + 1;
    const bytes = withoutRemarks(patch.subarray(start, end));
    sections.push({ header: bytes.toString("latin1", 0, bytes.indexOf("\n")), bytes });
    start = end;
  }
  return sections;
}

/** git says of files in conflict, between the parts, that they are. */
function withoutRemarks(section: Buffer): Buffer {
  const at = section.indexOf("\n* Unmerged path ");
  return at < 0 ? section : section.subarray(0, at + 1);
}

const headerOf = ({ name, oldName = name }: RawEntry, prefix: Path) =>
  `diff --git ${quoteName(`a/${prefix}${oldName}`)} ${quoteName(`b/${prefix}${name}`)}`;
