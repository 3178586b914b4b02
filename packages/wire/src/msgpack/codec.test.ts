import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeMsgPack, parseMsgPack } from "./codec.ts";
import { MAX_DEPTH, MAX_VALUES } from "./scan.ts";

const FILE = join(import.meta.dirname, "../../../../vectors/hoot01-frames.json");
const { invalidBodies }: { invalidBodies: readonly { readonly name: string; readonly hex: string }[] } =
  JSON.parse(readFileSync(FILE, "utf8"));
const refused = (bytes: Uint8Array) => expect(() => parseMsgPack(bytes)).toThrow(ToolError);

describe("vectors/hoot01-frames.json, invalid bodies", () => {
  test.each(invalidBodies)("$name is refused before it is decoded", ({ hex }) =>
    refused(Buffer.from(hex, "hex")),
  );
});

/** JSON values; msgpackr renames this one key, which none of our schemas has. */
const json = fc.jsonValue().filter((value) => !JSON.stringify(value).includes("__proto__"));

test("JSON values survive a round trip", () => {
  fc.assert(
    fc.property(json, (value) => {
      const same = JSON.parse(JSON.stringify(value));
      expect(parseMsgPack(encodeMsgPack(same))).toEqual(same);
    }),
  );
});

test("a truncated body, or one with trailing bytes, is refused", () => {
  fc.assert(
    fc.property(json, (value) => {
      const bytes = encodeMsgPack(value);
      for (let end = 0; end < bytes.length; end++) refused(bytes.subarray(0, end));
      refused(Buffer.concat([bytes, Buffer.from([0xc0])]));
    }),
    { numRuns: 50 },
  );
});

test("any bytes are a value or a ToolError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        parseMsgPack(bytes);
      } catch (cause) {
        expect(cause).toBeInstanceOf(ToolError);
      }
    }),
    { numRuns: 5_000 },
  );
});

test("an undefined field is absent, and bytes stay bytes", () => {
  const value = { absent: undefined, list: [undefined, 1], bytes: new Uint8Array([0, 255]) };
  expect(parseMsgPack(encodeMsgPack(value))).toEqual({ list: [null, 1], bytes: Buffer.from([0, 255]) });
});

test("integers keep their value up to 2^53, in every width", () => {
  for (const value of [
    0,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    2 ** 32 - 1,
    2 ** 32,
    2 ** 53 - 1,
    -1,
    -32,
    -33,
    -129,
    -(2 ** 31) - 1,
    -(2 ** 53) + 1,
  ])
    expect(parseMsgPack(encodeMsgPack(value))).toBe(value);
  expect(parseMsgPack(Buffer.from("cf001fffffffffffff", "hex"))).toBe(2 ** 53 - 1);
  expect(parseMsgPack(Buffer.from("d3ffe0000000000001", "hex"))).toBe(-(2 ** 53) + 1);
});

test("integers beyond 32 bits are written as integers, wherever they are", () => {
  const ms = 1_794_797_835_066;
  expect(encodeMsgPack(ms).toString("hex")).toBe(`d3${ms.toString(16).padStart(16, "0")}`);
  expect(encodeMsgPack(-ms)[0]).toBe(0xd3);
  for (const value of [1.5, 2 ** 53, 1e300, Number.NaN]) expect(encodeMsgPack(value)[0]).toBe(0xcb);
  fc.assert(
    fc.property(json, fc.maxSafeInteger(), fc.uint8Array({ maxLength: 300 }), (value, integer, bytes) => {
      const whole = JSON.parse(
        JSON.stringify({ value, integer, list: [integer, value], text: "\u00cb".repeat(40) }),
      );
      expect(parseMsgPack(encodeMsgPack({ ...whole, bytes: Buffer.from(bytes) }))).toEqual({
        ...whole,
        bytes: Buffer.from(bytes),
      });
    }),
  );
});

test("an unsigned integer with its highest bit set is not mistaken for a small negative one", () => {
  refused(Buffer.from("cfffffffffffffffff", "hex"));
});

test(`values are nested up to ${MAX_DEPTH} deep`, () => {
  const nested = (depth: number) => Buffer.from([...Array.from({ length: depth }, () => 0x91), 0xc0]);
  expect(JSON.stringify(parseMsgPack(nested(MAX_DEPTH)))).toHaveLength(2 * MAX_DEPTH + 4);
  refused(nested(MAX_DEPTH + 1));
});

test("a body with too many values is refused at once", () => {
  const body = Buffer.alloc(5 + MAX_VALUES, 0xc0);
  body[0] = 0xdd;
  body.writeUInt32BE(MAX_VALUES, 1);
  refused(body);
});
