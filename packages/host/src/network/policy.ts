import { isIP } from "node:net";
import { ToolError } from "@octant/core";
import { words } from "../words.ts";
import { type AddressClass, classOf } from "./address-class.ts";
import { type HostPattern, nameOf, parseHostPattern } from "./host-patterns.ts";
import type { Target } from "./target.ts";

/** The network policy. Public addresses are open unless denied; the `never` class is always closed. */
export interface NetworkPolicy {
  readonly loopback: boolean;
  readonly private: boolean;
  /** Opens loopback, private ranges and unusual ports for these hosts. */
  readonly allow: readonly string[];
  /** Overrides `allow`. */
  readonly deny: readonly string[];
  /** When given, nothing but these hosts is reached. */
  readonly only?: readonly string[] | undefined;
}

export type Gate = ReturnType<typeof createGate>;

/** `isRemote`: the caller, or the server that redirects here, is remote, so addresses that only this machine can reach are closed. */
export function createGate(policy: NetworkPolicy) {
  const allow = policy.allow.map(parseHostPattern);
  const deny = policy.deny.map(parseHostPattern);
  const only = policy.only?.map(parseHostPattern);

  const check = (target: Target, addresses: readonly string[], isRemote: boolean) => {
    if (isListed(deny, target, addresses)) throw blocked(target, "it is on the deny list");
    if (METADATA_NAMES.has(nameOf(target.host))) throw blocked(target, REASONS.never);
    if (BAD_PORTS.has(target.port) && !isListed(allow, target, []))
      throw blocked(
        target,
        `port ${target.port} is not for HTTP; --net-allow ${target.host}:${target.port} opens it`,
      );
    for (const address of addresses) {
      const kind = classOf(address);
      if (kind === "never") throw blocked(target, REASONS.never);
      if (kind === "public" || isListed(allow, target, [address])) continue;
      if (isRemote) throw blocked(target, REASONS.remote);
      if (!policy[kind]) throw blocked(target, REASONS[kind]);
    }
  };

  return {
    /** Checks that need no name resolution. */
    checkName: (target: Target, isRemote: boolean) =>
      check(target, isIP(target.host) ? [target.host] : [], isRemote),
    /** All addresses must pass, because any of them may be used. Empty when a proxy resolves the name. */
    checkAddresses(target: Target, addresses: readonly string[], isRemote: boolean) {
      check(target, addresses, isRemote);
      if (only && !isAllListed(only, target, addresses))
        throw blocked(target, "the settings name the hosts that may be reached, and it is not among them");
    },
  };
}

/** Any of the addresses is enough. */
const isListed = (list: readonly HostPattern[], target: Target, addresses: readonly string[]): boolean =>
  list.some((pattern) => pattern.matches(target, addresses));

/** By its name, or by every single address: one that is listed does not vouch for its neighbours. */
const isAllListed = (list: readonly HostPattern[], target: Target, addresses: readonly string[]): boolean =>
  isListed(list, target, []) ||
  (addresses.length > 0 && addresses.every((address) => isListed(list, target, [address])));

const REASONS = {
  never: "link-local, cloud metadata and reserved addresses are never reached",
  private: "it is in a private network; the person can open it with --net-allow host:port",
  loopback: "it is this machine; the person can open it with --net-allow host:port",
  remote:
    "it is in a private network or this machine, which neither callers nor redirects from elsewhere reach; --net-allow host:port opens it",
} as const satisfies Record<Exclude<AddressClass, "public"> | "remote", string>;

/** Names that only ever refer to a cloud's own service. Behind a proxy there is no address to check. */
const METADATA_NAMES = new Set(
  words(`
    metadata metadata.google.internal metadata.goog metadata.azure.com metadata.azure.internal
    metadata.tencentyun.com metadata.oraclecloud.com instance-data instance-data.ec2.internal
  `),
);

/** Ports of other protocols that a request could be smuggled into: the list of the fetch standard. */
const BAD_PORTS = new Set(
  words(`
    0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123
    135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993
    995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080
  `).map(Number),
);

export const blocked = ({ shown }: Pick<Target, "shown">, why: string) =>
  new ToolError("NET_BLOCKED", `${shown} is blocked: ${why}`, { host: shown });
