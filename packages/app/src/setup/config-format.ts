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

/** A file that cannot be read or changed; both numbers start at 1. */
export class ConfigProblem extends Error {
  override readonly name = "ConfigProblem";
  readonly line: number;
  readonly column: number;

  constructor(text: string, offset: number, message: string) {
    super(message);
    const before = text.slice(0, offset).split(/\r\n|\r|\n/);
    this.line = before.length;
    this.column = (before.at(-1) ?? "").length + 1;
  }
}

export const newLineOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");
