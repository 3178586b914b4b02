/** Access to untrusted JSON: unexpected values become undefined, 0 or empty. */
export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

export function stringOf(value: unknown, name: string): string {
  const field = fieldOf(value, name);
  return typeof field === "string" ? field : "";
}

export function numberOf(value: unknown, name: string): number {
  const field = fieldOf(value, name);
  return typeof field === "number" && Number.isFinite(field) ? field : 0;
}

export function listOf(value: unknown, name: string): readonly unknown[] {
  const field = fieldOf(value, name);
  return Array.isArray(field) ? field : [];
}
