type Lists = Readonly<Record<string, readonly unknown[]>>;

/** The number of items omitted from each list; complete lists are absent. */
export type Omitted = Record<string, number>;

/**
 * Shortens lists from their ends until each is within its limit and all together within the budget. The largest list
 * is shortened first, so that one long list does not displace the others.
 */
export function fitLists<L extends Lists>(
  lists: L,
  limits: { readonly [K in keyof L]: number },
  budgetBytes: number,
): { lists: L; omitted: Omitted } {
  const measured = Object.entries(lists).map(([name, items]) => {
    const kept = items.slice(0, limits[name]);
    const sizes = kept.map(sizeOf);
    return { name, items, sizes, size: sizes.reduce((sum, size) => sum + size, 0) };
  });
  let total = measured.reduce((sum, { size }) => sum + size, 0);
  while (total > budgetBytes) {
    const largest = measured.reduce((most, one) => (one.size > most.size ? one : most));
    const freed = largest.sizes.pop();
    if (freed === undefined) break;
    largest.size -= freed;
    total -= freed;
  }
  const fitted = measured.map(({ name, items, sizes }) => [name, items.slice(0, sizes.length)]);
  const omitted = measured
    .filter(({ items, sizes }) => sizes.length < items.length)
    .map(({ name, items, sizes }) => [name, items.length - sizes.length]);
  // The same keys with fewer items.
  return { lists: Object.fromEntries(fitted) as L, omitted: Object.fromEntries(omitted) };
}

const sizeOf = (item: unknown): number => Buffer.byteLength(JSON.stringify(item)) + 1;
