import { jsonc } from "./jsonc.ts";
import { toml } from "./toml.ts";

export type Entry = Readonly<Record<string, unknown>>;

/** How one entry of a configuration file is read and changed; all around it stays as it was, byte for byte. */
export interface ConfigFormat {
  /** The entry at `path`; undefined when there is none. */
  read(text: string, path: readonly string[]): Entry | undefined;
  /** The text with these fields in the entry, which is made if need be; its other fields stay. */
  set(text: string, path: readonly string[], fields: Entry): string;
  remove(text: string, path: readonly string[]): string;
}

export type FormatName = "jsonc" | "toml";

export const FORMATS: Readonly<Record<FormatName, ConfigFormat>> = { jsonc, toml };
