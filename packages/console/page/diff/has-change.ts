/** Whether the arguments of a call say what it changes. */
export const hasChange = (input: unknown): boolean =>
  ["patch", "edits", "content"].some((key) => Object(input)[key] !== undefined);
