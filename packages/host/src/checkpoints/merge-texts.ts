import { isUtf8 } from "node:buffer";
import { diff3Merge } from "node-diff3";

const MAX_MERGED_BYTES = 2 * 1024 * 1024;

interface Texts {
  readonly ours: Buffer;
  readonly base: Buffer;
  readonly theirs: Buffer;
}

/** Merges both changes of a text, line by line; undefined when they overlap, or when one is not text. */
export function mergeTexts({ ours, base, theirs }: Texts): Buffer | undefined {
  const all = [ours, base, theirs];
  if (!all.every((bytes) => bytes.length <= MAX_MERGED_BYTES && isText(bytes))) return undefined;
  const [a = [], o = [], b = []] = all.map(toLines);
  const regions = diff3Merge(a, o, b, { excludeFalseConflicts: true });
  if (regions.some(({ conflict }) => conflict)) return undefined;
  return Buffer.from(regions.flatMap(({ ok }) => ok ?? []).join(""));
}

const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

/** With their line ends, so that nothing is lost. */
const toLines = (bytes: Buffer): string[] => bytes.toString().match(/[^\n]*\n|[^\n]+$/g) ?? [];
