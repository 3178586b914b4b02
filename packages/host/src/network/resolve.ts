import { lookup } from "node:dns/promises";

/** All addresses of a name. Resolved exactly once per hop; the connection uses these addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** As the rest of the machine resolves: hosts file, search domains and all. */
export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, order: "verbatim" })).map(({ address }) => address);
