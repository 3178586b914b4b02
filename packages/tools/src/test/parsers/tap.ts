import type { CreateParser, Findings, Problem } from "../case.ts";
import { placesIn } from "./stack.ts";

interface Point {
  readonly level: number;
  readonly ok: boolean;
  readonly name: string;
  readonly directive: string | undefined;
}

const SPACES_PER_LEVEL = 4;
const MAX_LEVEL = 64;

/** Parses the Test Anything Protocol, versions 12 to 14, including subtests and diagnostics. */
export const createTapParser: CreateParser = (findings) => {
  /** By level: the name of the open subtest, and whether it had results and failures. */
  const names: string[] = [];
  const inside: { any: boolean; failed: boolean }[] = [];
  const diagnostics = createDiagnostics();
  let pending: Point | undefined;
  let planned: number | undefined;
  /** The number of top-level points, and whether there was any point at all. */
  let seen = 0;
  let isTap = false;

  const flush = () => {
    if (pending) reportPoint(pending, names, inside, diagnostics.take(), findings);
    pending = undefined;
  };

  return {
    line(line) {
      if (diagnostics.line(line, pending !== undefined)) return;
      const text = line.trimStart();
      const level = Math.min(MAX_LEVEL, Math.floor((line.length - text.length) / SPACES_PER_LEVEL));
      const point = toPoint(text, level);
      const [, subtest] = /^# Subtest: (.*)$/.exec(text) ?? [];
      const [, plan] = /^1\.\.(\d{1,9})/.exec(text) ?? [];
      if (point || subtest !== undefined || plan !== undefined) flush();
      if (point) {
        pending = point;
        isTap = true;
        if (level === 0) seen += 1;
      } else if (subtest !== undefined) names.splice(level, names.length, subtest);
      else if (plan !== undefined && level === 0) planned = Number(plan);
      else if (text.startsWith("Bail out!"))
        findings.broken({
          name: "Bail out!",
          problem: { message: text.slice("Bail out!".length).trim() || text },
        });
    },
    end() {
      flush();
      if (planned !== undefined) return seen >= planned;
      return isTap ? false : undefined;
    },
  };
};

/** Tests that may wait for the first line that only TAP has. */
const MAX_WAITING = 100_000;

/**
 * Parses output that may be TAP: a version or a plan shows that it is. Lines such as `ok  example/pkg  0.1s` of go test
 * do not.
 */
export const createTapGuess: CreateParser = (findings) => {
  const waiting: ((findings: Findings) => void)[] = [];
  let isTap = false;
  const later = (tell: (findings: Findings) => void) => {
    if (isTap) tell(findings);
    else if (waiting.length < MAX_WAITING) waiting.push(tell);
  };
  const parser = createTapParser({
    test: (test) => later((to) => to.test(test)),
    broken: (breakage) => later((to) => to.broken(breakage)),
  });
  return {
    line(line) {
      if (!isTap && /^(?:TAP version \d+|1\.\.\d+(?:\s|$))/.test(line)) {
        isTap = true;
        for (const tell of waiting.splice(0)) tell(findings);
      }
      parser.line(line);
    },
    end() {
      const complete = parser.end();
      return isTap ? complete : undefined;
    },
  };
};

function toPoint(text: string, level: number): Point | undefined {
  const [, not, rest] = /^(not )?ok\b(?: +\d+)?(.*)$/.exec(text) ?? [];
  if (rest === undefined) return undefined;
  const cut = /\s#\s*(skip|todo)/i.exec(rest);
  const description = cut ? rest.slice(0, cut.index) : rest.replace(/\s# time=.*$/, "");
  const name = description
    .replace(/^\s*(?:- )?/, "")
    .replace(/ \{$/, "")
    .trim();
  return { level, ok: not === undefined, name, directive: cut?.[1]?.toLowerCase() };
}

/** A point that summarises reported subtests is not counted, unless only the point failed. */
function reportPoint(
  { level, ok, name, directive }: Point,
  names: readonly string[],
  inside: { any: boolean; failed: boolean }[],
  problem: Partial<Problem> & { durationMs?: number },
  findings: Findings,
): void {
  const below = inside[level + 1];
  inside.length = level + 1;
  const failed = !ok && directive === undefined;
  for (let up = 0; up <= level; up++) {
    const { any = false, failed: before = false } = inside[up] ?? {};
    inside[up] = { any: any || up > 0, failed: before || failed };
  }
  if (below?.any && (!failed || below.failed)) return;
  const { durationMs, ...details } = problem;
  findings.test({
    name: name || "unnamed test",
    suite: Array.from({ length: level }, (_, up) => names[up] ?? ""),
    outcome: directive !== undefined && !(directive === "todo" && ok) ? "skip" : ok ? "pass" : "fail",
    durationMs,
    problem: failed
      ? {
          ...details,
          message: details.message || "not ok",
          at: details.at ?? placesIn(details.stack ?? "")[0],
        }
      : undefined,
  });
}

const MAX_CHARS = 65_536;

/** The YAML block after a test point, limited to the YAML that test runners use: keys, quoted texts, text blocks. */
function createDiagnostics() {
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
