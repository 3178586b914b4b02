import type { Tone } from "../../parts/parts.tsx";

type Row = Readonly<Record<string, unknown>>;

/** The rows of an answer: its first list of objects. */
export const rowsOf = (data: Readonly<Record<string, unknown>>): readonly Row[] => {
  const list = Object.values(data).find((value) => Array.isArray(value));
  return Array.isArray(list) ? list.map((row) => Object(row)) : [];
};

const FIRST = ["name", "title", "task", "state", "status"];
const MAX_COLUMNS = 8;

/** Names and states first; long objects are left to the command line. */
export function columnsOf(rows: readonly Row[]): readonly string[] {
  const all = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const isShown = (column: string) =>
    rows.some((row) => row[column] !== null && row[column] !== undefined && typeof row[column] !== "object");
  const rank = (column: string) => {
    const index = FIRST.indexOf(column);
    if (index >= 0) return index;
    return column.endsWith("_id") ? FIRST.length + 1 : FIRST.length;
  };
  return all
    .filter(isShown)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, MAX_COLUMNS);
}

export type CellText =
  | { readonly kind: "time"; readonly at: string }
  | { readonly kind: "state"; readonly text: string; readonly tone: Tone }
  | { readonly kind: "text"; readonly text: string };

const TONES: Readonly<Record<string, Tone>> = {
  running: "good",
  working: "accent",
  active: "good",
  ready: "good",
  waiting: "warn",
  failed: "bad",
  crashed: "bad",
  error: "bad",
};

export function toCell(name: string, value: unknown): CellText {
  if (value === null || value === undefined) return { kind: "text", text: "–" };
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value)))
    return { kind: "time", at: value };
  if (name === "state" || name === "status")
    return { kind: "state", text: String(value), tone: TONES[String(value)] ?? "plain" };
  return { kind: "text", text: typeof value === "object" ? JSON.stringify(value) : String(value) };
}
