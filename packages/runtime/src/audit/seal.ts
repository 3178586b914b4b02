import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";

/**
 * Derived from the workspace's secret; sandboxed commands can read neither. A KeyObject, because Node takes several
 * times as long to start an HMAC with a key in bytes.
 */
export type AuditKey = KeyObject;

const KEY_LABEL = "octant audit log";

export const toAuditKey = (secret: Uint8Array): AuditKey =>
  createSecretKey(createHmac("sha256", secret).update(KEY_LABEL).digest());

/** HMAC-SHA-256 under the audit key. */
export const macOf = (key: AuditKey, text: string | Uint8Array): string =>
  createHmac("sha256", key).update(text).digest("base64url");

const HASH_CHARS = 43;
const BEFORE_HASH = ',"hash":"';
const AFTER_HASH = '"}';
const SEAL_BYTES = BEFORE_HASH.length + HASH_CHARS + AFTER_HASH.length;

/** Appends a member `hash` over the preceding JSON. */
export function seal(key: AuditKey, json: string): { readonly text: string; readonly hash: string } {
  const open = json.slice(0, -1);
  const hash = macOf(key, open);
  return { text: `${open}${BEFORE_HASH}${hash}${AFTER_HASH}`, hash };
}

/** The object that was sealed; undefined when a single bit is not as it was. */
export function unseal(key: AuditKey, bytes: Buffer): unknown {
  if (bytes.length <= SEAL_BYTES) return undefined;
  const at = bytes.length - SEAL_BYTES;
  const expected = `${BEFORE_HASH}${macOf(key, bytes.subarray(0, at))}${AFTER_HASH}`;
  if (bytes.toString("latin1", at) !== expected) return undefined;
  return JSON.parse(bytes.toString("utf8"));
}

/** A small sealed file about a chain; `fileBytes` is its length where that must not change. */
export const encodeSealed = (key: AuditKey, value: object, fileBytes = 0): string =>
  `${seal(key, JSON.stringify(value)).text.padEnd(fileBytes - 1)}\n`;

/** Undefined when the file was changed. Throws the system's error when it cannot be read. */
export function loadSealed<T extends { readonly chain: string }>(
  path: string,
  key: AuditKey,
  chain: string,
  fileBytes = 0,
): T | undefined {
  const bytes = readFileSync(path);
  // Only encodeSealed can have sealed it.
  const sealed = unseal(key, bytes.subarray(0, bytes.lastIndexOf("}") + 1)) as
    | (T & { hash: string })
    | undefined;
  const { hash: _hash, ...value } = sealed ?? {};
  const isOurs = sealed?.chain === chain && encodeSealed(key, value, fileBytes) === bytes.toString("utf8");
  return isOurs ? sealed : undefined;
}
