/** The same text for the same data, in whatever order its keys were given. Keys without a value are left out. */
export function toCanonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return toScalar(value);
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  if ("toJSON" in value && typeof value.toJSON === "function") return toCanonicalJson(value.toJSON());
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${toCanonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

/** What JSON has no word for is null, as in arrays of JSON.stringify; a bigint is told by its digits. */
const toScalar = (value: unknown): string =>
  typeof value === "bigint" ? `"${value}"` : (JSON.stringify(value) ?? "null");
