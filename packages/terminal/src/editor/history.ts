import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

const MAX_ENTRIES = 1000;

/** In the first line; a file without it is older. */
const VERSION = 1;

/** The sent messages, oldest first, stored per project in a file with one JSON string per line. */
export interface History {
  /** For the person: why the stored messages are neither read nor added to. */
  readonly notice?: string;
  readonly entries: readonly string[];
  add(text: string): void;
  /** The newest entry before `index` that contains the words. */
  find(words: string, before?: number): number | undefined;
}

export function openHistory(file: string | undefined): History {
  const stored = file === undefined ? [] : load(file);
  const isNewer = stored.some((value) => versionOf(value) > VERSION);
  const entries = isNewer ? [] : stored.filter((value) => typeof value === "string").slice(-MAX_ENTRIES);
  return {
    entries,
    ...(isNewer && { notice: `a newer version of Octant wrote the input history; update Octant to use it` }),
    add(text) {
      if (text.trim() === "" || entries.at(-1) === text) return;
      entries.push(text);
      if (file !== undefined && !isNewer) save(file, text);
    },
    find(words, before = entries.length) {
      const wanted = words.toLowerCase();
      const found = entries.findLastIndex((entry, i) => i < before && entry.toLowerCase().includes(wanted));
      return found === -1 ? undefined : found;
    },
  };
}

/** The lines that are JSON. */
function load(file: string): unknown[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line): unknown[] => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

const versionOf = (value: unknown): number =>
  typeof value === "object" && value !== null && "version" in value ? Number(value.version) : 0;

/** A history that cannot be written is not a reason to stop. */
function save(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const head = existsSync(file) ? "" : `${JSON.stringify({ version: VERSION })}\n`;
    appendFileSync(file, `${head}${JSON.stringify(text)}\n`, { mode: 0o600 });
  } catch {}
}
