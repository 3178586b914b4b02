import { patchFailed } from "../patch/change.ts";
import { isNamePair, parseNamePair } from "../patch/parse-names.ts";
import type { Path } from "../path.ts";
import { unquoteName } from "./quoted-name.ts";

/** What a patch does to a symbolic link; null stands for none. */
export interface LinkChange {
  readonly old: { readonly name: Path; readonly target: string | null } | null;
  readonly new: { readonly name: Path; readonly target: string | null } | null;
}

export interface SplitPatch {
  /** What is about files. */
  readonly files: string;
  readonly links: readonly LinkChange[];
  /** Names of submodules. */
  readonly submodules: readonly Path[];
}

/** What stands at a name now; only a rename that changes nothing does not say what it is about. */
export type LookUp = (name: Path) => "file" | "link" | "folder" | null;

/** Takes apart a patch that git made by what its parts are about. */
export function splitPatch(patch: string, lookUp: LookUp): SplitPatch {
  const parts = patch.split(/^(?=diff --git )/m);
  const files: string[] = [];
  const links: LinkChange[] = [];
  const submodules: Path[] = [];
  for (const part of parts) {
    const lines = part.split("\n");
    const rename = renameOf(lines);
    const found = rename && !/^index /m.test(headerOf(part)) ? lookUp(rename.from) : null;
    const mode = MODE.exec(headerOf(part))?.[1];
    const isLink = mode === "120000" || found === "link";
    const isSubmodule = mode === "160000" || found === "folder";
    if (isLink || isSubmodule) checkAlone(lines);
    if (isLink) links.push(toLinkChange(lines, rename));
    else if (isSubmodule) submodules.push(...namesOf(lines, rename));
    else files.push(part);
  }
  return { files: files.join(""), links, submodules };
}

const MODE = /^(?:new file mode|deleted file mode|index [0-9a-f.]+) (120000|160000)$/m;

const headerOf = (part: string): string => part.slice(0, part.search(/^(--- |@@ |GIT binary patch$)/m) >>> 0);

interface Rename {
  readonly from: Path;
  readonly to: Path;
}

function renameOf(lines: readonly string[]): Rename | undefined {
  const name = (what: string) =>
    lines.find((line) => line.startsWith(`rename ${what} `))?.slice(`rename ${what} `.length);
  const [from, to] = [name("from"), name("to")];
  return from === undefined || to === undefined
    ? undefined
    : { from: unquoteName(from), to: unquoteName(to) };
}

/** A file without a header of git's own could follow, and nobody would have looked at it. */
function checkAlone(lines: readonly string[]): void {
  if (lines.filter((_, n) => isNamePair(lines, n)).length > 1)
    throw patchFailed(
      "a link or submodule and another file share a part of the patch; start each with 'diff --git'",
    );
}

function namesOf(lines: readonly string[], rename: Rename | undefined): Path[] {
  if (rename) return [rename.from, rename.to];
  const at = lines.findIndex((_, n) => isNamePair(lines, n));
  if (at < 0) throw patchFailed("the patch does not say which submodule or link it changes");
  const { old, new: made } = parseNamePair(lines, at);
  return [...new Set([old, made].filter((name) => name !== undefined))];
}

function toLinkChange(lines: readonly string[], rename: Rename | undefined): LinkChange {
  const at = lines.findIndex((_, n) => isNamePair(lines, n));
  if (at < 0 && rename)
    return { old: { name: rename.from, target: null }, new: { name: rename.to, target: null } };
  if (at < 0) throw patchFailed("the patch has a symbolic link whose target is no text; make it by hand");
  const names = parseNamePair(lines, at);
  const side = (name: Path | undefined, sign: "-" | "+") =>
    name === undefined ? null : { name, target: targetOf(lines.slice(at + 2), sign) };
  return { old: side(rename?.from ?? names.old, "-"), new: side(rename?.to ?? names.new, "+") };
}

/** A target is all of the content; git says behind it that no newline ends it. */
const targetOf = (lines: readonly string[], sign: "-" | "+"): string =>
  lines
    .filter((line) => line.startsWith(sign) || line.startsWith(" "))
    .map((line) => line.slice(1))
    .join("\n");
