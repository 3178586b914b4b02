import ipaddr from "ipaddr.js";

/**
 * The class of an address. `never`: link-local, cloud metadata, multicast, unspecified, reserved and everything not
 * known to be public; no setting opens these.
 */
export type AddressClass = "public" | "private" | "loopback" | "never";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The class of an address as a resolver gives it; anything else is `never`. */
export function classOf(text: string): AddressClass {
  if (!ipaddr.isValid(text)) return "never";
  const address = ipaddr.parse(text);
  return isIPv4(address) ? classOfIPv4(address) : classOfIPv6(address);
}

function classOfIPv4(address: ipaddr.IPv4): AddressClass {
  return matchesAny(address, CLOSED) ? "never" : (IPV4_CLASSES[address.range()] ?? "never");
}

const IPV4_CLASSES: Readonly<Record<string, AddressClass>> = {
  unicast: "public",
  private: "private",
  carrierGradeNat: "private",
  loopback: "loopback",
};

function classOfIPv6(address: ipaddr.IPv6): AddressClass {
  // A zone picks an interface of this machine; nothing public needs one.
  if (address.zoneId !== undefined || matchesAny(address, CLOSED)) return "never";
  if (address.isIPv4MappedAddress()) return classOfIPv4(address.toIPv4Address());
  const carried = carriedAddresses(address);
  // Translators and tunnels serve the public network: 127.0.0.1 in such a form is an attack.
  if (carried.length > 0) return carried.every((one) => classOfIPv4(one) === "public") ? "public" : "never";
  if (address.range() === "unicast") return address.match(GLOBAL_UNICAST) ? "public" : "never";
  return IPV6_CLASSES[address.range()] ?? "never";
}

const IPV6_CLASSES: Readonly<Record<string, AddressClass>> = { uniqueLocal: "private", loopback: "loopback" };

/** The IPv4 addresses inside an IPv6 address of a transition technology. */
function carriedAddresses(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const { parts } = address;
  const at = (index: number, mask = 0) => {
    const [high = 0, low = 0] = parts.slice(index, index + 2).map((part) => part ^ mask);
    return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
  };
  switch (address.range()) {
    case "rfc6145":
    case "rfc6052":
      return [at(6)];
    case "6to4":
      return [at(1)];
    case "teredo":
      return [at(2), at(6, 0xffff)];
    case "unicast":
      // IPv4-compatible (::a.b.c.d) and ISATAP; the library has no names for them.
      if (address.match(IPV4_COMPATIBLE) || (parts[5] === 0x5efe && ((parts[4] ?? 0) & 0xfdff) === 0))
        return [at(6)];
      return [];
    default:
      return [];
  }
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
const IPV4_COMPATIBLE = ipaddr.IPv6.parseCIDR("::/96");

/** Where clouds answer their own machines, beyond 169.254.0.0/16, and a translation that each network chooses itself. */
const CLOSED = [
  "100.100.100.200/32", // Alibaba
  "168.63.129.16/32", // Azure
  "fd00:ec2::/32", // AWS
  "fd20:ce::/32", // Google
  "64:ff9b:1::/48",
].map((range) => ipaddr.parseCIDR(range));

/** Whether an address is in a range; IPv4 addresses and their IPv6-mapped forms count as equal. */
export function isInRange(text: string, [base, bits]: [Address, number]): boolean {
  return ipaddr.isValid(text) && matchesAny(ipaddr.process(text), [[base, bits]]);
}

const matchesAny = (address: Address, ranges: readonly [Address, number][]): boolean =>
  ranges.some(([base, bits]) => address.kind() === base.kind() && address.match(base, bits));

const isIPv4 = (address: Address): address is ipaddr.IPv4 => address.kind() === "ipv4";
