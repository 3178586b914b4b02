import { existsSync } from "node:fs";
import { createKeys, loadKeys, type WireKeys } from "@octant/wire";

/** A server creates its keys; they are CURVE keys, because CURVE encrypts too. */
export function openKeys(file: string | undefined): { readonly keys?: WireKeys } {
  if (file === undefined) return {};
  return { keys: existsSync(file) ? loadKeys(file) : createKeys(file, "curve") };
}

export const loadKeysOf = (file: string | undefined): { readonly keys?: WireKeys } =>
  file === undefined ? {} : { keys: loadKeys(file) };
