/** Equal text for equal data, regardless of key order. Undefined values are omitted. */
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

/** Values without a JSON form become null, as in arrays of JSON.stringify; a bigint becomes its digits. */
const toScalar = (value: unknown): string =>
  typeof value === "bigint" ? `"${value}"` : (JSON.stringify(value) ?? "null");
