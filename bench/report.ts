import { isRatio, passes, type Row } from "./row.ts";

export interface Report {
  readonly facts: Readonly<Record<string, string | number>>;
  readonly rows: readonly Row[];
}

export function renderReport({ facts, rows }: Report): string {
  const header = [
    "case",
    "octant p50",
    "p95",
    "direct p50",
    "no-op SDK p50",
    "figure",
    "bar",
    "",
    "n",
    "note",
  ];
  const cells = rows.map((row) => [
    row.name,
    `${number(row.octant.p50)} ${row.unit}`,
    number(row.octant.p95),
    row.direct ? number(row.direct.p50) : "",
    row.noOp ? number(row.noOp.p50) : "",
    `**${figure(row, row.figure)}**${others(row)}`,
    row.bar ? `${row.bar.at === "most" ? "≤" : "≥"} ${figure(row, row.bar.value)}` : "",
    verdict(row),
    String(row.octant.samples),
    row.note,
  ]);
  const table = [header, header.map(() => "---"), ...cells].map((line) => `| ${line.join(" | ")} |`);
  const machine = Object.entries(facts).map(([name, value]) => `${name} ${value}`);
  return [
    "# Octant bench",
    "",
    machine.join(" · "),
    "",
    ...table,
    "",
    "A figure with × is Octant's p50 over stdio divided by the floor: the p50 of the direct work plus the p50 of a",
    "no-op call to a server on the official SDK that carries the same bytes, all taken in one interleaved run. Each",
    "case has several sittings on new servers; the row is the one in the middle, and the brackets have the others.",
    "",
  ].join("\n");
}

export const toJson = ({ facts, rows }: Report): string =>
  JSON.stringify({ facts, rows: rows.map((row) => ({ ...row, passed: passes(row) })) }, null, 2);

function verdict(row: Row): string {
  if (!row.bar) return "";
  return passes(row) ? "PASS" : "FAIL";
}

const figure = (row: Row, value: number): string =>
  isRatio(row) ? `${value.toFixed(2)}×` : `${number(value)} ${row.unit}`;

/** The lowest and the highest sitting. */
function others({ figures = [] }: Row): string {
  const [first, last] = [figures[0], figures.at(-1)];
  return first === undefined || last === undefined || first === last
    ? ""
    : ` (${number(first)}–${number(last)})`;
}

/** Three significant digits. */
const number = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
