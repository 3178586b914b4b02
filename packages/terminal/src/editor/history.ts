import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

const MAX_ENTRIES = 1000;

/** The sent messages, oldest first, stored per project in a file with one JSON string per line. */
export interface History {
  readonly entries: readonly string[];
  add(text: string): void;
  /** The newest entry before `index` that contains the words. */
  find(words: string, before?: number): number | undefined;
}

export function openHistory(file: string | undefined): History {
  const entries = file === undefined ? [] : load(file);
  return {
    entries,
    add(text) {
      if (text.trim() === "" || entries.at(-1) === text) return;
      entries.push(text);
      if (file !== undefined) save(file, text);
    },
    find(words, before = entries.length) {
      const wanted = words.toLowerCase();
      const found = entries.findLastIndex((entry, i) => i < before && entry.toLowerCase().includes(wanted));
      return found === -1 ? undefined : found;
    },
  };
}

function load(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  const entries = text.split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === "string" ? [value] : [];
    } catch {
      return [];
    }
  });
  return entries.slice(-MAX_ENTRIES);
}

/** A history that cannot be written is not a reason to stop. */
function save(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    appendFileSync(file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
  } catch {}
}
