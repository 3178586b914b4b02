import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { expect, test } from "vitest";
import { type AddressClass, classOf } from "./address-class.ts";

test.each<[AddressClass, string]>([
  ["public", "8.8.8.8"],
  ["public", "1.1.1.1"],
  ["public", "172.15.255.255"],
  ["public", "172.32.0.0"],
  ["public", "100.63.255.255"],
  ["public", "100.128.0.0"],
  ["public", "169.253.255.255"],
  ["public", "2606:4700::1111"],
  ["public", "2a00:1450:4001::200e"],
  ["public", "::ffff:8.8.8.8"],
  ["public", "64:ff9b::8.8.8.8"],
  ["public", "2002:808:808::1"],
  ["loopback", "127.255.255.254"],
  ["loopback", "::1"],
  ["private", "10.255.255.255"],
  ["private", "fdff::1"],
  ["never", "64:ff9b:1::808:8080:0"],
  ["never", "192.88.99.1"],
  ["never", "::"],
  ["never", "::1%1"],
  ["never", ""],
  ["never", "localhost"],
  ["never", "127.0.0.1 "],
])("%s: %s", (expected, address) => {
  expect(classOf(address)).toBe(expected);
});

const octet = fc.integer({ min: 0, max: 255 });
const ipv4 = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join("."));
const hexOf = (address: string) => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
};

test("an IPv4-mapped IPv6 address has its own class, in any spelling", () => {
  fc.assert(
    fc.property(ipv4, (address) => {
      expect(classOf(`::ffff:${address}`)).toBe(classOf(address));
      expect(classOf(ipaddr.parse(`::ffff:${hexOf(address)}`).toNormalizedString())).toBe(classOf(address));
    }),
  );
});

test("no wrapping makes an address more than public, or opens a blocked one", () => {
  fc.assert(
    fc.property(ipv4, (address) => {
      const wrapped = [
        `64:ff9b::${address}`,
        `2002:${hexOf(address)}::1`,
        `::ffff:0:${address}`,
        `2001:470::5efe:${address}`,
      ];
      const expected = classOf(address) === "public" ? "public" : "never";
      for (const one of wrapped) expect(classOf(one), one).toBe(expected);
    }),
  );
});
