import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createKeyedHash } from "./keyed-hash.ts";

const key = fc.uint8Array({ maxLength: 200 });

test("it is HMAC-SHA-256 as Node's own, for keys and texts of any length", () => {
  fc.assert(
    fc.property(
      key,
      fc.oneof(fc.string({ unit: "binary" }), fc.uint8Array({ maxLength: 500 })),
      (key, text) => {
        const hashOf = createKeyedHash(key);
        const ofNode = () => createHmac("sha256", key).update(text);
        expect(hashOf(text)).toEqual(ofNode().digest());
        expect(hashOf(text, "hex")).toBe(ofNode().digest("hex"));
        expect(hashOf(text, "base64url")).toBe(ofNode().digest("base64url"));
      },
    ),
  );
});

test("a hash that was given stays as it was when the next is made", () => {
  const hashOf = createKeyedHash(Buffer.from("key"));
  const first = hashOf("one");
  const kept = Buffer.from(first);
  hashOf("two");
  expect(first).toEqual(kept);
});
