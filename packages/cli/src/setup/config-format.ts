import { jsonc } from "./jsonc.ts";
import { toml } from "./toml.ts";

export type Entry = Readonly<Record<string, unknown>>;

/**
 * Reads and changes one entry of a configuration file; everything around it stays the same, byte for byte.
 */
export interface ConfigFormat {
  /** The entry at `path`; undefined when there is none. */
  read(text: string, path: readonly string[]): Entry | undefined;
  /** Sets these fields in the entry, creating it if necessary; its other fields stay. */
  set(text: string, path: readonly string[], fields: Entry): string;
  remove(text: string, path: readonly string[]): string;
}

export type FormatName = "jsonc" | "toml";

export const FORMATS: Readonly<Record<FormatName, ConfigFormat>> = { jsonc, toml };
