import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/**
 * Derived from the workspace's secret; sandboxed commands can read neither. A KeyObject, because Node takes several
 * times as long to start an HMAC with a key in bytes.
 */
export type AuditKey = KeyObject;

const KEY_LABEL = "octant audit log";

export const toAuditKey = (secret: Uint8Array): AuditKey =>
  createSecretKey(createHmac("sha256", secret).update(KEY_LABEL).digest());

/** HMAC-SHA-256 under the audit key. */
export const macOf = (key: AuditKey, text: string): string =>
  createHmac("sha256", key).update(text).digest("base64url");

const HASH_CHARS = 43;
const BEFORE_HASH = ',"hash":"';
const AFTER_HASH = '"}';
const SEAL_CHARS = BEFORE_HASH.length + HASH_CHARS + AFTER_HASH.length;

/** Appends a member `hash` over the preceding JSON. */
export function seal(key: AuditKey, json: string): { readonly text: string; readonly hash: string } {
  const open = json.slice(0, -1);
  const hash = macOf(key, open);
  return { text: `${open}${BEFORE_HASH}${hash}${AFTER_HASH}`, hash };
}

/** The object that was sealed; undefined when any bit was changed. */
export function unseal(key: AuditKey, text: unknown): unknown {
  if (typeof text !== "string" || text.length <= SEAL_CHARS) return undefined;
  const open = text.slice(0, -SEAL_CHARS);
  const isIntact = text.slice(-SEAL_CHARS) === `${BEFORE_HASH}${macOf(key, open)}${AFTER_HASH}`;
  return isIntact ? JSON.parse(text) : undefined;
}
