import { createHmac } from "node:crypto";

/** Shows that Octant wrote a text. Each kind of text starts in its own way, so that none can pass for another. */
export type Seal = (text: string) => Buffer;

/** The secret is read when it is needed first: most servers start without an edit. */
export function createSeal(secret: () => Uint8Array): Seal {
  let key: Uint8Array | undefined;
  return (text) => {
    key ??= secret();
    return createHmac("sha256", key).update(text).digest();
  };
}
