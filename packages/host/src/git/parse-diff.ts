import { splitNul } from "../files/nul-list.ts";
import { type Path, pathToUri } from "../path.ts";
import { quoteName } from "./quoted-name.ts";
import { CHANGE_KINDS } from "./status.ts";

/** The effect of a diff on one file. */
type ChangedFile = ReturnType<typeof parseStat>[number];

/** With the part of the patch that does it. */
export interface FileDiff extends ChangedFile {
  /** None when there is nothing to apply, two when it became something else, such as a link. */
  readonly parts: readonly Buffer[];
}

/**
 * Parses the output of `git diff --raw --numstat --patch -z`: the stat, a NUL, then the patches in the same order.
 * Names start at `folder`; `prefix` is the text that git puts between a/ or b/ and them.
 */
export function parseDiff(output: Buffer, folder: Path, prefix: Path): FileDiff[] {
  const nul = output.indexOf("\0\0");
  const end = nul < 0 ? output.length : nul + 1;
  const entries = parseStat(output.subarray(0, end), folder);
  const sections = splitSections(output.subarray(end + 1));
  let next = 0;
  const takeSection = (entry: ChangedFile): Buffer[] => {
    const isIts = sections[next]?.header === headerOf(entry, prefix);
    return isIts ? [sections[next++]!.bytes] : [];
  };
  const isUnmerged = ({ change }: ChangedFile) => change === "conflict";
  const conflicts = new Map(entries.filter(isUnmerged).map((entry) => [entry.name, entry]));
  const files = entries
    .filter((entry) => !isUnmerged(entry))
    .map((entry): FileDiff => {
      // One that became something else, as a link, is a deletion and a creation.
      const parts = [...takeSection(entry), ...(entry.change === "type_changed" ? takeSection(entry) : [])];
      return { ...entry, change: conflicts.delete(entry.name) ? "conflict" : entry.change, parts };
    });
  return [
    ...files,
    ...[...conflicts.values()].map((entry) => ({ ...entry, added: null, removed: null, parts: [] })),
  ];
}

/** First `:facts NUL name NUL` of each file, a rename with two names; then `added TAB removed TAB name NUL`. */
export function parseStat(output: Buffer, folder: Path) {
  const fields = splitNul(output);
  const entries: ReturnType<typeof toEntry>[] = [];
  const counts = new Map<Path, { added: number | null; removed: number | null }>();
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at]!;
    if (field.startsWith(":")) {
      const isRename = /^:.* [RC]\d*$/.test(field);
      const [oldName, name] = isRename ? [fields[++at], fields[++at]!] : [undefined, fields[++at]!];
      entries.push(toEntry(folder, field, name, oldName));
      continue;
    }
    const [added = "", removed = "", ...rest] = field.split("\t");
    const told = rest.join("\t");
    counts.set(told === "" ? (fields[at + 2] ?? "") : told, {
      added: toCount(added),
      removed: toCount(removed),
    });
    // A rename leaves the name empty and has both after it.
    if (told === "") at += 2;
  }
  // git counts no lines of a file whose content is the same.
  return entries.map((entry) => ({ ...entry, ...(counts.get(entry.name) ?? { added: 0, removed: 0 }) }));
}

/** null for binary files. */
const toCount = (text: string) => (text === "-" ? null : Number(text));

/** From `:100644 100644 OLD NEW R100`. */
function toEntry(folder: Path, facts: string, name: Path, oldName?: Path) {
  const toUri = (one: Path) => pathToUri(`${folder === "/" ? "" : folder}/${one}`);
  const [oldMode = "", newMode = "", , , status = ""] = facts.slice(1).split(" ");
  const change = CHANGE_KINDS[status[0] ?? ""] ?? ("conflict" as const);
  const isOnBothSides = change !== "added" && change !== "deleted" && change !== "conflict";
  return {
    name,
    oldName,
    uri: toUri(name),
    change,
    renamed_from: oldName === undefined ? undefined : toUri(oldName),
    ...(isOnBothSides && oldMode !== newMode && { old_mode: oldMode, new_mode: newMode }),
  };
}

const NEXT_HEADER = "\ndiff --git ";

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
  // Before the first part, git may remark on files in conflict too.
  return sections.filter(({ header }) => header.startsWith("diff --git "));
}

/** Between the parts, git prints a note for each file in conflict. */
function withoutRemarks(section: Buffer): Buffer {
  const at = section.indexOf("\n* Unmerged path ");
  return at < 0 ? section : section.subarray(0, at + 1);
}

const headerOf = ({ name, oldName = name }: ChangedFile, prefix: Path) =>
  `diff --git ${quoteName(`a/${prefix}${oldName}`)} ${quoteName(`b/${prefix}${name}`)}`;
