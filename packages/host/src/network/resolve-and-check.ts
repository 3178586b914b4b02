import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { orAborted } from "@octant/core";
import { blocked, type Gate } from "./policy.ts";
import type { ChooseProxy } from "./proxy.ts";
import type { Target } from "./target.ts";

/** All addresses of a name. Resolved exactly once per hop; the connection uses these addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** As the rest of the machine resolves: hosts file, search domains and all. */
export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, order: "verbatim" })).map(({ address }) => address);

export interface CheckTools {
  readonly gate: Gate;
  readonly resolve: Resolve;
  readonly chooseProxy: ChooseProxy;
  readonly denies?: DeniesHost | undefined;
}

/** Why a rule denies a host with its port; undefined when none does. */
export type DeniesHost = (authority: string) => string | undefined;

/** NET_BLOCKED when a rule denies the name or one of the addresses. */
export function checkDenied(
  target: Target,
  denies: DeniesHost | undefined,
  hosts: readonly string[] = [target.host],
): void {
  for (const host of hosts) {
    const reason = denies?.(`${isIP(host) === 6 ? `[${host}]` : host}:${target.port}`);
    if (reason !== undefined) throw blocked(target, reason);
  }
}

/** How a permitted request travels: through a proxy, or to one of the addresses that were checked. */
export interface Route {
  readonly proxy: string | undefined;
  readonly addresses: readonly string[];
}

export interface RouteCaller {
  readonly isRemote: boolean;
  /** A server that is not on this machine or in its networks has redirected here. */
  readonly isSentFromElsewhere?: boolean;
  readonly signal: AbortSignal;
}

/** NET_BLOCKED unless policy lets this caller reach the target. A proxy resolves names itself, so only the name is checked then. */
export async function resolveAndCheck(
  target: Target,
  { gate, resolve, chooseProxy, denies }: CheckTools,
  { isRemote, isSentFromElsewhere = false, signal }: RouteCaller,
): Promise<Route> {
  const isFromElsewhere = isRemote || isSentFromElsewhere;
  gate.checkName(target, isFromElsewhere);
  checkDenied(target, denies);
  const proxy = chooseProxy(target);
  // For a remote caller the addresses that this machine knows must be open even behind a proxy.
  const addresses = proxy === undefined || isRemote ? await addressesOf(target, resolve, signal) : [];
  gate.checkAddresses(target, addresses, isFromElsewhere);
  checkDenied(target, denies, addresses);
  return { proxy, addresses };
}

/** An IP address is its own; throws when the name has none. */
export async function addressesOf({ host }: Target, resolve: Resolve, signal: AbortSignal) {
  if (isIP(host)) return [host];
  // The system's resolver cannot be cancelled, but the caller need not wait for it.
  const addresses = await orAborted(resolve(host), signal);
  if (addresses.length > 0) return addresses;
  throw Object.assign(new Error("no address"), { code: "ENODATA" });
}

/** A lookup that knows the answer: the addresses that were checked, and no others. */
export interface PinnedLookup extends LookupFunction {
  readonly pinned: string;
}

export function pin(addresses: readonly string[]): PinnedLookup {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  const first = entries[0]!;
  const lookup: LookupFunction = (_host, { all }, callback) =>
    all ? callback(null, entries) : callback(null, first.address, first.family);
  return Object.assign(lookup, { pinned: addresses.join() });
}
