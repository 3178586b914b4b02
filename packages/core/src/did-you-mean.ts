/** The name that was probably meant; undefined when none is near. */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  const plain = toPlain(typed);
  const [best] = names
    .map((name) => ({ name, distance: distanceOf(plain, toPlain(name)) }))
    .sort((a, b) => a.distance - b.distance);
  if (best && best.distance <= Math.max(1, Math.floor(plain.length / 3))) return best.name;
  const starting = namesStarting(typed.toLowerCase(), names);
  return starting.length === 1 ? starting[0] : undefined;
}

/** ` Did you mean 'x'?`, or nothing. */
export function didYouMean(typed: string, names: readonly string[]): string {
  const name = nearestName(typed, names);
  const starting = namesStarting(typed.toLowerCase(), names);
  const meant = name === undefined && starting.length <= MAX_MEANT ? starting : [name];
  return meant.length === 0 || meant[0] === undefined ? "" : ` Did you mean '${meant.join("' or '")}'?`;
}

const MAX_MEANT = 3;

const namesStarting = (wanted: string, names: readonly string[]): string[] =>
  names.filter((name) => wanted.length > 1 && name.toLowerCase().startsWith(wanted));

/** `allowedPaths` and `allowed-paths` are `allowed_paths`, written as other programs do. */
const toPlain = (name: string): string => name.replace(/[_-]/g, "").toLowerCase();

const MAX_CHARS = 64;

/** Edits from one to the other, where swapping two neighbours is one (optimal string alignment). */
function distanceOf(a: string, b: string): number {
  if (a.length > MAX_CHARS || b.length > MAX_CHARS) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          last[j]! + 1,
          row[j - 1]! + 1,
          last[j - 1]! + (isSame ? 0 : 1),
          isSwapped ? beforeLast[j - 2]! + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}
