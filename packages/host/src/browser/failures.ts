import { ToolError } from "@octant/core";

/** The part of a wait message that says what an element lacks. */
const UNREADY =
  /is not (visible|enabled|stable|editable|attached)|intercepts pointer events|outside of the viewport|not a .* element|did not find some options|waiting for (?!element|scheduled)/;
const MAX_REASON_CHARS = 300;

/** From Playwright's log while it waits: the last line that says what was not ready. */
function reasonOf(cause: unknown): string {
  const log = logOf(cause);
  const line = log.findLast((text) => UNREADY.test(text)) ?? log.at(-1) ?? "";
  return line
    .replace(/^[\s-]+|\d+ × /g, "")
    .trim()
    .slice(0, MAX_REASON_CHARS);
}

function logOf(cause: unknown): readonly string[] {
  if (!(cause instanceof Error)) return [];
  const log = "log" in cause && Array.isArray(cause.log) ? cause.log.map(String) : [];
  return log.length > 0 ? log : cause.message.split("\n").slice(1);
}

export const isTimeout = (cause: unknown): boolean => cause instanceof Error && cause.name === "TimeoutError";

export const tookTooLong = (what: string, timeoutMs: number, cause: unknown) => {
  const reason = reasonOf(cause);
  const why = reason ? `: ${reason}` : "";
  return new ToolError(
    "TIMEOUT",
    `${what} was not ready after ${timeoutMs} ms${why}; look with ui.snapshot, or give a longer timeout`,
    { after_ms: timeoutMs },
    { cause },
  );
};

export const pageBusy = (timeoutMs: number) =>
  new ToolError(
    "TIMEOUT",
    `the page did not answer within ${timeoutMs} ms: its own scripts keep it busy, or the target is costly to find; use a ref or a CSS selector, try again, or leave it with ui.navigate`,
    { after_ms: timeoutMs },
  );

export const unreadable = (timeoutMs: number, cause: unknown) =>
  new ToolError(
    "TIMEOUT",
    `the page could not be read within ${timeoutMs} ms: its scripts keep it busy, or it keeps navigating; try again, or leave it with ui.navigate`,
    { after_ms: timeoutMs },
    { cause },
  );

export const noPage = (profile: string) =>
  new ToolError("NOT_FOUND", `no page is open in profile '${profile}'; open one with ui.navigate`, {
    id: profile,
  });

export const browserEnded = () =>
  new ToolError(
    "UPSTREAM_ERROR",
    "the browser exited and its pages are closed; open them again with ui.navigate",
    {},
  );

export const pageCrashed = () =>
  new ToolError("UPSTREAM_ERROR", "the page crashed; load it again with ui.navigate", {});

/** The first line of an error from a page or Playwright, for the author of the failing script. */
export const messageOf = (cause: unknown): string => {
  const text = cause instanceof Error ? cause.message : String(cause);
  return (text.split(/\nCall log:|\n {4}at /)[0] ?? text)
    .replace(/^(?:[a-zA-Z]+\.[a-zA-Z]+: )?(?:Error: )?/, "")
    .slice(0, 1_000);
};

export const invalid = (path: string, message: string, cause?: unknown) =>
  new ToolError("INVALID_ARGUMENT", `${path}: ${message}`, { issues: [{ path, message }] }, { cause });

/** Without the credentials in the address. */
export const unreachable = (endpoint: string, cause: unknown): ToolError =>
  new ToolError(
    "UPSTREAM_ERROR",
    `no browser answers at ${URL.parse(endpoint)?.origin}; start one there with --remote-debugging-port, or remove ui.browser from the settings`,
    {},
    { cause },
  );
