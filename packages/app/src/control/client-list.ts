const MAX_CLIENTS = 20;
const MAX_NAME_CHARS = 80;

/** The MCP clients that have called, by the names that they give themselves. */
export type ClientList = ReturnType<typeof createClientList>;

export function createClientList() {
  const names = new Set<string>();
  const listeners = new Set<() => void>();
  return {
    /** Takes a client's `clientInfo`. */
    add(clientInfo: unknown): void {
      const { name, version } = Object(clientInfo);
      if (typeof name !== "string") return;
      const shown = [name, ...(typeof version === "string" ? [version] : [])]
        .join(" ")
        .slice(0, MAX_NAME_CHARS);
      const isNew = !names.has(shown);
      // Moves it to the end.
      names.delete(shown);
      names.add(shown);
      const [oldest] = names;
      if (names.size > MAX_CLIENTS && oldest !== undefined) names.delete(oldest);
      if (isNew) for (const listener of listeners) listener();
    },
    /** Calls back when a client joins, until the returned function is called. */
    watch(onJoin: () => void): () => void {
      listeners.add(onJoin);
      return () => listeners.delete(onJoin);
    },
    /** The last one first. */
    list: (): readonly string[] => [...names].reverse(),
  };
}
