const MAX_DATE_MS = 8_640_000_000_000_000;

/** A file's time as ISO 8601. Some file systems hold times that no Date does; they become the nearest one. */
export const toTimestamp = (ms: number): string =>
  new Date(Math.min(Math.max(ms, -MAX_DATE_MS), MAX_DATE_MS)).toISOString();

const MINUTE_MS = 60_000;
const SECONDS_AT = "YYYY-MM-DDThh:mm:".length;
const PLAIN_CHARS = "YYYY-MM-DDThh:mm:ss.sssZ".length;

/**
 * The same for many files. Those of one folder are often of the same minute, and then only the seconds are formatted
 * again: a Date takes five times as long.
 */
export function createTimestamper(): (ms: number) => string {
  let knownMinute = Number.NaN;
  let known = "";
  return (ms) => {
    const whole = Math.trunc(ms);
    const minute = Math.floor(whole / MINUTE_MS);
    if (minute !== knownMinute) {
      const timestamp = toTimestamp(ms);
      // Years outside 0 to 9999 have more digits.
      knownMinute = timestamp.length === PLAIN_CHARS ? minute : Number.NaN;
      known = timestamp.slice(0, SECONDS_AT);
      return timestamp;
    }
    const inMinute = whole - minute * MINUTE_MS;
    const thousandths = String(100_000 + inMinute);
    return `${known}${thousandths.slice(1, 3)}.${thousandths.slice(3)}Z`;
  };
}
