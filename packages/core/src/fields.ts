/** The fields of a JSON object whose type is not known yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: not an array, not null. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
