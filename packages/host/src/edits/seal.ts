import { createKeyedHash, type KeyedHash } from "@octant/core";

/** Shows that Octant wrote a text. Each kind of text starts in its own way, so that none can pass for another. */
export type Seal = (text: string) => Buffer;

/** The secret is read when it is needed first: most servers start without an edit. */
export function createSeal(secret: () => Uint8Array): Seal {
  let hashOf: KeyedHash | undefined;
  return (text) => {
    hashOf ??= createKeyedHash(secret());
    return hashOf(text);
  };
}
