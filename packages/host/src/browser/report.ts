import { inTime, LateError, orAborted } from "../waits.ts";
import type { ConsoleEntry, DownloadEntry, Marker } from "./activity.ts";
import type { ActOptions, Profile } from "./profile.ts";
import { type Changes, takeChanges } from "./snapshots.ts";
import type { Tab } from "./tab.ts";
import { toShownUrl } from "./workspace-site.ts";

/** The visible effects of an action on the page. */
export interface Report {
  readonly tab: string;
  readonly url: string;
  readonly title: string;
  readonly changes?: Changes;
  /** Errors that the page logged meanwhile. */
  readonly console: readonly string[];
  readonly dialog?: { readonly type: string; readonly message: string };
  readonly downloads: readonly Pick<DownloadEntry, "id" | "name">[];
  /** Links that were used and whose downloads have not begun yet. */
  readonly awaited: readonly string[];
  readonly opened: readonly { readonly tab: string; readonly url: string }[];
  /** Requests that the policy refused. */
  readonly blocked: readonly string[];
  readonly closed: boolean;
}

export interface ReportOptions extends Pick<ActOptions, "timeoutMs" | "signal"> {
  readonly tab: Tab;
  /** When the action began. */
  readonly since: Marker;
  /** The end of the last report, and the tabs that there were. */
  readonly told: Marker;
  readonly known: ReadonlySet<string>;
}

/** How long the effects of an action may take before the answer is returned. */
const SETTLE_MS = 1_000;
const LOAD_MS = 5_000;
const FRAMES_MS = 250;
export const TWO_FRAMES =
  "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))";
const TITLE_MS = 1_000;
const CHANGES_MS = 5_000;
const MAX_TOLD = 5;
const MAX_ERROR_CHARS = 300;

/** Waits for the effects of an action, then reads the page. */
export async function report(
  { tabs, activity, refused }: Pick<Profile, "tabs" | "activity" | "refused">,
  { tab, since, told, known, timeoutMs, signal }: ReportOptions,
): Promise<Report> {
  const { page } = tab;
  const isReadable = () => !page.isClosed() && !activity.dialog;
  const readTitle = async () => (isReadable() ? inTime(page.title(), TITLE_MS).catch(() => "") : "");
  // After another round trip, or a new document, every request that the action triggered is known.
  let title = tab.isNew ? "" : await readTitle();
  let changes: Changes | undefined;
  if (isReadable()) {
    await orAborted(activity.quiet(since, SETTLE_MS), signal);
    changes = await orAborted(inTime(readChanges(tab, Date.now() + CHANGES_MS), CHANGES_MS), signal).catch(
      ignoreLate,
    );
    title = changes?.title ?? (await readTitle());
  }
  const links = (changes?.downloadLinks ?? []).map(toShownUrl);
  const awaited = await orAborted(activity.downloadsBegin(links, since, timeoutMs), signal);
  const dialog = activity.dialog?.dialog;
  /** Chromium logs each failed request; those refused by the policy are reported separately. */
  const isNoise = (at: string | undefined): boolean => {
    const url = toUrl(at);
    return url.endsWith("/favicon.ico") || refused(url) !== undefined;
  };
  return {
    ...{ tab: tab.id, url: toShownUrl(page.url()), title },
    ...(changes && { changes }),
    ...(dialog && { dialog: { type: dialog.type(), message: dialog.message() } }),
    console: toErrors(
      activity.console.filter(
        ({ number, level, at }) => number > told.console && level === "error" && !isNoise(at),
      ),
    ),
    downloads: activity.downloads.slice(told.downloads).map(({ id, name }) => ({ id, name })),
    awaited,
    opened: [...tabs.values()]
      .filter(({ id }) => !known.has(id))
      .map(({ id, page: other }) => ({ tab: id, url: toShownUrl(other.url()) })),
    blocked: [
      ...new Set(
        activity.requests
          .filter(({ number, url }) => number > told.request && refused(url)?.code === "NET_BLOCKED")
          .flatMap(({ failure }) => failure ?? []),
      ),
    ].slice(0, MAX_TOLD),
    closed: page.isClosed(),
  };
}

/** The last ones; of a failed request also its URL. */
function toErrors(entries: readonly ConsoleEntry[]): string[] {
  const shown = entries.slice(-MAX_TOLD).map(({ text, at }) => {
    const cut = text.slice(0, MAX_ERROR_CHARS);
    return at && text.startsWith("Failed to load resource") ? `${cut} <${toUrl(at)}>` : cut;
  });
  const omitted = entries.length - shown.length;
  return omitted > 0 ? [`… ${omitted} earlier: ui.console`, ...shown] : shown;
}

/** Without the line. */
const toUrl = (at: string | undefined): string => at?.replace(/:\d+$/, "") ?? "";

/** A page that navigates meanwhile is read when the next one is ready. */
async function readChanges(tab: Tab, until: number): Promise<Changes | undefined> {
  for (let attempt = 0; attempt < 2 && Date.now() < until; attempt++) {
    try {
      const changes = await takeChanges(tab, until);
      if (changes.isNew || changes.text !== "" || changes.downloadLinks.length > 0) return changes;
      // Charts and animations show the effect of an action in the next frame only.
      await inTime(tab.page.evaluate(TWO_FRAMES), FRAMES_MS).catch(() => {});
      return await takeChanges(tab, until);
    } catch {
      if (tab.page.isClosed()) return undefined;
      await tab.page.waitForLoadState("domcontentloaded", { timeout: LOAD_MS }).catch(() => {});
    }
  }
  return undefined;
}

const ignoreLate = (cause: unknown): undefined => {
  if (!(cause instanceof LateError)) throw cause;
  return undefined;
};
