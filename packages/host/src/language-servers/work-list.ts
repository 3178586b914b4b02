export type WorkList = ReturnType<typeof createWorkList>;

/** The work that a server has reported. */
export function createWorkList() {
  const tokens = new Set<string | number>();
  let busySince = 0;
  let waiting: { readonly isMet: () => boolean; readonly resolve: () => void }[] = [];
  const look = () => {
    for (const one of waiting) if (one.isMet()) one.resolve();
    waiting = waiting.filter((one) => !one.isMet());
  };
  const until = (isMet: () => boolean) =>
    isMet() ? Promise.resolve() : new Promise<void>((resolve) => waiting.push({ isMet, resolve }));
  return {
    count: () => tokens.size,
    /** How long there has been some without a break. */
    busyMs: () => (tokens.size > 0 ? performance.now() - busySince : 0),
    begin(token: string | number) {
      if (tokens.size === 0) busySince = performance.now();
      tokens.add(token);
      look();
    },
    end(token: string | number) {
      tokens.delete(token);
      look();
    },
    begun: () => until(() => tokens.size > 0),
    done: () => until(() => tokens.size === 0),
  };
}
