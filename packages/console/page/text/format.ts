const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 0.4 ms, 12 ms, 1.2 s, 2 m 05 s, 3 h 20 m. */
export function toDuration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "–";
  // Calls are measured in whole milliseconds.
  if (ms === 0) return "< 1 ms";
  if (ms < 1) return `${ms.toFixed(1)} ms`;
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m ${pad(Math.floor((ms % MINUTE) / SECOND))} s`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${pad(Math.floor((ms % HOUR) / MINUTE))} m`;
  return `${Math.floor(ms / DAY)} d ${Math.floor((ms % DAY) / HOUR)} h`;
}

/** now, 40 s, 5 m, 3 h, 2 d. */
export function toAge(ms: number): string {
  if (ms < 5 * SECOND) return "now";
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/** just now, 5 m ago. */
export const toAgeInWords = (ms: number): string => (ms < 5 * SECOND ? "just now" : `${toAge(ms)} ago`);

const UNITS = ["B", "KB", "MB", "GB", "TB"];

export function toBytes(bytes: number): string {
  if (!Number.isFinite(bytes) || bytes < 0) return "–";
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

export function toCost(cost: number | null): string {
  if (cost === null) return "–";
  if (cost === 0) return "$0";
  return cost < 0.01 ? "< $0.01" : `$${cost.toFixed(2)}`;
}

/** 950, 12.4k, 3.1M. */
export function toCount(count: number): string {
  if (count < 10_000) return count.toLocaleString("en");
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** 14:05:09. */
export function toClock(at: number): string {
  const date = new Date(at);
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

/** Today 14:05, Yesterday 09:30, Tomorrow 02:30, 12 Nov 14:05, 12 Nov 2025. */
export function toMoment(at: number, now: number): string {
  const date = new Date(at);
  const clock = `${pad(date.getHours())}:${pad(date.getMinutes())}`;
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (at >= midnight && at < midnight + DAY) return `Today ${clock}`;
  if (at >= midnight - DAY && at < midnight) return `Yesterday ${clock}`;
  if (at >= midnight + DAY && at < midnight + 2 * DAY) return `Tomorrow ${clock}`;
  const day = `${date.getDate()} ${MONTHS[date.getMonth()]}`;
  return date.getFullYear() === new Date(now).getFullYear()
    ? `${day} ${clock}`
    : `${day} ${date.getFullYear()}`;
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

const pad = (value: number): string => String(value).padStart(2, "0");

/** The last part of a path. */
export const baseOf = (path: string): string =>
  path
    .replace(/[/\\]+$/, "")
    .split(/[/\\]/)
    .at(-1) || path;

/** A file address as a path, relative to a root when it is below one. */
export function toPath(uri: string, roots: readonly string[] = []): string {
  let path = uri;
  if (uri.startsWith("file://")) {
    try {
      path = decodeURIComponent(uri.slice(7));
    } catch {
      path = uri.slice(7);
    }
  }
  const root = roots.find((one) => path.startsWith(`${one}/`));
  return root ? path.slice(root.length + 1) : path;
}
