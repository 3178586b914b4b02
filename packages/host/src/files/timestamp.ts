const MAX_DATE_MS = 8_640_000_000_000_000;

/** A file's time as ISO 8601. Some file systems hold times that no Date does; they become the nearest one. */
export const toTimestamp = (ms: number): string =>
  new Date(Math.min(Math.max(ms, -MAX_DATE_MS), MAX_DATE_MS)).toISOString();
