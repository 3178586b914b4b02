/** As many items from `from` on as the budget holds, but at least one. */
export function pageOf<T>(items: readonly T[], from: number, limit: number, maxBytes: number): T[] {
  let bytes = 0;
  const page: T[] = [];
  for (const item of items.slice(from, from + limit)) {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (page.length > 0 && bytes > maxBytes) break;
    page.push(item);
  }
  return page;
}
