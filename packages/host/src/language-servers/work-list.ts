/** The work that a server has reported. */
export interface WorkList {
  count(): number;
  /** How long there has been some without a break. */
  busyMs(): number;
  begin(token: string | number): void;
  end(token: string | number): void;
  begun(): Promise<void>;
  done(): Promise<void>;
}

export function createWorkList(): WorkList {
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
    busyMs: () => (tokens.size > 0 ? performance.now() - busySince : 0),
    begin(token) {
      if (tokens.size === 0) busySince = performance.now();
      tokens.add(token);
      look();
    },
    end(token) {
      tokens.delete(token);
      look();
    },
    begun: () => until(() => tokens.size > 0),
    done: () => until(() => tokens.size === 0),
  };
}
