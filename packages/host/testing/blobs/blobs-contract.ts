import { createHash } from "node:crypto";
import { toMemberId, toOwnerId } from "@octant/core";
import { describe, expect, test } from "vitest";
import type { Blobs } from "../../src/blobs/blobs.ts";

/** `connect` opens the same stored contents once more, as another process would. */
export interface StoredBlobs extends Disposable {
  connect(): Blobs;
  /** Replaces the stored bytes of all contents by others of the same length. */
  damage(): void;
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const CONTENTS = [
  Buffer.alloc(0),
  Buffer.from("hello"),
  Buffer.from([0, 255, 10, 13]),
  Buffer.alloc(100_000, 7),
];
const NOT_FOUND = expect.objectContaining({ code: "NOT_FOUND" });
/** A caller that acts for somebody else than the person at this machine. */
const callerOf = (letter: string) => toMemberId(toOwnerId(letter.repeat(32)), "ses_1");

/** What every adapter of Blobs promises. `setUp` starts with nothing stored. */
export function describeBlobs(name: string, setUp: () => StoredBlobs): void {
  describe(`the blobs ${name}`, () => {
    test.each([{ durable: false }, { durable: true }])("are read back by another process (%o)", (options) => {
      using place = setUp();
      const [mine, theirs] = [place.connect(), place.connect()];
      for (const bytes of CONTENTS) {
        const hash = mine.put(bytes, options);
        expect(hash.replace("sha256:", "")).toBe(sha256(bytes));
        expect(theirs.has(hash)).toBe(true);
        expect(theirs.get(hash).equals(bytes)).toBe(true);
      }
      mine.close();
      theirs.close();
    });

    test("may be put again, alone or together with others", () => {
      using place = setUp();
      const blobs = place.connect();
      const [first, ...hashes] = CONTENTS.map((bytes) => blobs.put(bytes));
      blobs.putAll(CONTENTS.map((bytes) => ({ hash: blobs.put(bytes), bytes })));
      blobs.putAll([]);
      expect([first, ...hashes].map((hash) => blobs.get(hash!).length)).toEqual(
        CONTENTS.map(({ length }) => length),
      );
      blobs.close();
    });

    test("do not exist before they are put", () => {
      using place = setUp();
      const blobs = place.connect();
      const hash = blobs.put(Buffer.from("some")).replace(/.{8}$/, "00000000");
      expect(blobs.has(hash)).toBe(false);
      expect(() => blobs.get(hash)).toThrow(NOT_FOUND);
      blobs.close();
    });

    test("are NOT_FOUND once damaged, and the same bytes repair them", () => {
      using place = setUp();
      const blobs = place.connect();
      const bytes = Buffer.from("precious");
      const hash = blobs.put(bytes);
      place.damage();
      expect(() => blobs.get(hash)).toThrow(NOT_FOUND);
      blobs.put(bytes);
      expect(blobs.get(hash).equals(bytes)).toBe(true);
      blobs.close();
    });

    test("are visible to the person, and to an owner who was given their ref", () => {
      using place = setUp();
      const blobs = place.connect();
      const hash = blobs.put(Buffer.from("theirs"));
      const isVisible = (caller: string) => place.connect().isVisible(hash, caller);
      expect(["local", callerOf("a"), callerOf("b")].map(isVisible)).toEqual([true, false, false]);
      blobs.grant([hash], callerOf("a"));
      expect(["local", callerOf("a"), callerOf("b")].map(isVisible)).toEqual([true, true, false]);
      blobs.grant([hash], "local");
      expect(isVisible(callerOf("b"))).toBe(false);
      const never = hash.replace(/.{8}$/, "00000000");
      expect(blobs.isVisible(never, "local")).toBe(false);
      blobs.close();
    });
  });
}
