import type { Problem } from "../case.ts";
import { placesIn } from "./stack.ts";

const MAX_CHARS = 65_536;

/** The YAML block after a test point, limited to the YAML that test runners use: keys, quoted texts, text blocks. */
export function createDiagnostics() {
  let indent = -1;
  let chars = 0;
  let lines: string[] = [];
  return {
    /** Whether the line belongs to a block. One starts only after a test point. */
    line(line: string, afterPoint: boolean): boolean {
      const text = line.trimStart();
      const depth = line.length - text.length;
      if (indent < 0) {
        if (!afterPoint || depth === 0 || text.trimEnd() !== "---") return false;
        indent = depth;
        return true;
      }
      if (text.trimEnd() === "..." && depth === indent) indent = -1;
      // A point at the same depth or less means that the block was never closed.
      else if (depth < indent && /^(?:not )?ok\b/.test(text)) {
        indent = -1;
        return false;
      } else {
        chars += line.length;
        if (chars <= MAX_CHARS) lines.push(line.slice(Math.min(indent, depth)));
      }
      return true;
    },
    /** The content of the last block. */
    take(): Partial<Problem> & { durationMs?: number } {
      const keys = readKeys(lines);
      lines = [];
      chars = 0;
      const stack = keys.get("stack");
      const place = keys.get("location") ?? keys.get("at");
      const duration = Number(keys.get("duration_ms") ?? Number.NaN);
      return {
        message: keys.get("error") ?? keys.get("message"),
        stack,
        expected: keys.get("expected") ?? keys.get("wanted"),
        actual: keys.get("actual") ?? keys.get("found") ?? keys.get("got"),
        at: place === undefined ? undefined : placesIn(place)[0],
        durationMs: Number.isFinite(duration) ? duration : undefined,
      };
    },
  };
}

function readKeys(lines: readonly string[]): Map<string, string> {
  const keys = new Map<string, string>();
  let block: string | undefined;
  for (const line of lines) {
    const [, key, value = ""] = /^([A-Za-z_]\w*):(?: (.*))?$/.exec(line) ?? [];
    if (key !== undefined) {
      block = /^[|>][-+]?\d?$/.test(value) ? key : undefined;
      keys.set(key, block === undefined ? unquoted(value) : "");
    } else if (block !== undefined) {
      const before = keys.get(block);
      keys.set(block, before ? `${before}\n${line.trim()}` : line.trim());
    }
  }
  return keys;
}

function unquoted(value: string): string {
  if (/^'.*'$/.test(value)) return value.slice(1, -1).replaceAll("''", "'");
  if (!/^".*"$/.test(value)) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    return value.slice(1, -1);
  }
}
