import { readdirSync, readFileSync } from "node:fs";

/** The processes of the whole machine whose command line holds the word. */
export const processesWith = (word: string): number[] =>
  readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(word))
    .map(Number);

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
