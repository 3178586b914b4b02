/**
 * The shared part of all our JavaScript reporters; each imports appendFileSync in its own way. They are strings
 * because they do not run here: they are written next to each run and loaded by the project's own runner, with any
 * version of Node.
 */
export const NODE_EVENTS = String.raw`
const MAX_CHARS = 65536;
const short = (value) => (typeof value === "string" ? value.slice(0, MAX_CHARS) : undefined);
const shown = (value) => {
  if (value === undefined) return undefined;
  if (typeof value === "string") return short(value);
  try { return short(JSON.stringify(value, null, 2)) ?? String(value); } catch { return short(String(value)); }
};
const tell = (event) => appendFileSync(process.env.OCTANT_TEST_EVENTS, JSON.stringify(event) + "\n");
const toProblem = (error) => ({
  message: short(String((error && (error.message || error.stack || error.value)) || error || "unknown error")),
  stack: short(error && error.stack),
  expected: shown(error && error.expected),
  actual: shown(error && error.actual),
});
`;

/** The variable with the path of the reporters' output file. */
export const EVENTS_VARIABLE = "OCTANT_TEST_EVENTS";
