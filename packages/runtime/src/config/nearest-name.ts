const MAX_NAME_CHARS = 64;

/** The known name that was probably meant, or undefined when none is near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_CHARS) return undefined;
  const plain = toPlain(name);
  const [nearest] = known
    .map((one) => ({ one, distance: distanceOf(plain, toPlain(one)) }))
    .sort((a, b) => a.distance - b.distance);
  return nearest && nearest.distance <= Math.max(1, Math.floor(name.length / 3)) ? nearest.one : undefined;
}

/** `allowedPaths` and `allowed-paths` are `allowed_paths`, written as other programs do. */
const toPlain = (name: string): string => name.replace(/[_-]/g, "").toLowerCase();

/** How many letters to add, drop, change or swap with their neighbour. */
function distanceOf(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const changed = last[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
          ? before[j - 2]! + 1
          : Number.POSITIVE_INFINITY;
      row.push(Math.min(last[j]! + 1, row[j - 1]! + 1, changed, swapped));
    }
    before = last;
    last = row;
  }
  return last[to.length]!;
}
