/** The same text for the same data, in whatever order its keys were given. Keys without a value are left out. */
export function toCanonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return toScalar(value);
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  if ("toJSON" in value && typeof value.toJSON === "function") return toCanonicalJson(value.toJSON());
  let members = "";
  for (const key of Object.keys(value).sort()) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    members += `${members && ","}${JSON.stringify(key)}:${toCanonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** What JSON has no word for is null, as in arrays of JSON.stringify; a bigint is told by its digits. */
const toScalar = (value: unknown): string =>
  typeof value === "bigint" ? `"${value}"` : (JSON.stringify(value) ?? "null");
