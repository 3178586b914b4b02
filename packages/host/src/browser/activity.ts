import type { BrowserContext, ConsoleMessage, Dialog, Download, Page, Request } from "playwright-core";
import type { DownloadLimit } from "./download-limit.ts";
import { toShownUrl } from "./workspace-site.ts";

export interface ConsoleEntry {
  readonly number: number;
  readonly tab: string;
  readonly level: string;
  readonly text: string;
  readonly at?: string;
}

export interface RequestEntry {
  readonly number: number;
  readonly tab: string;
  readonly method: string;
  readonly url: string;
  readonly type: string;
  status?: number;
  failure?: string;
  ms?: number;
}

export interface DownloadEntry {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly download: Download;
  /** The limit, when it was cancelled because the downloads of the browser exceed it. */
  exceeded(): number | undefined;
}

export interface OpenDialog {
  readonly tab: string;
  readonly dialog: Dialog;
}

/** What happens in a profile in addition to the requested actions. */
export interface Activity {
  readonly console: readonly ConsoleEntry[];
  readonly requests: readonly RequestEntry[];
  readonly downloads: readonly DownloadEntry[];
  /** Console entries that are no longer kept. */
  droppedConsole(): number;
  dialog(): OpenDialog | undefined;
  /** Resolves when a dialog opens. */
  dialogOpens(): Promise<OpenDialog>;
  dialogAnswered(): void;
  /** Resolves when no request that began after `since` is pending, or the time is up. */
  quiet(since: Marker, ms: number): Promise<void>;
  /**
   * Resolves when links that were used since then have begun to download, or turned out to lead to a page; with the
   * links when the time is up before.
   */
  downloadsBegin(links: readonly string[], since: Marker, ms: number): Promise<readonly string[]>;
  /** A point in time for `quiet` and for reporting what is new. */
  now(): Marker;
  watch(page: Page, tab: string): void;
  clear(): void;
}

export interface Marker {
  readonly request: number;
  readonly console: number;
  readonly downloads: number;
}

const MAX_ENTRIES = 1_000;
const MAX_TEXT_CHARS = 2_000;
const ABORTED = "net::ERR_ABORTED";
/** Resource types that a page needs before it shows its content. */
const AWAITED = new Set(["document", "xhr", "fetch", "script"]);

export function createActivity(
  context: BrowserContext,
  refused: (url: string) => string | undefined,
  limit: DownloadLimit,
): Activity {
  const console: ConsoleEntry[] = [];
  const requests: RequestEntry[] = [];
  const downloads: DownloadEntry[] = [];
  const entries = new WeakMap<Request, RequestEntry>();
  const pending = new Map<Request, { readonly number: number; readonly since: number }>();
  const waiting = new Set<() => void>();
  const tabOf = new WeakMap<Page, string>();
  /** Links whose downloads had not begun when they were reported. */
  const late = new Set<string>();
  const counted = { console: 0, requests: 0 };
  let dropped = 0;
  let open: OpenDialog | undefined;
  let opens = Promise.withResolvers<OpenDialog>();

  const look = () => {
    for (const one of waiting) one();
  };
  const tabOfRequest = (request: Request): string => {
    try {
      return tabOf.get(request.frame().page()) ?? "";
    } catch {
      // A service worker's request has no frame.
      return "";
    }
  };
  const settle = (request: Request, change: (entry: RequestEntry) => void) => {
    const entry = entries.get(request);
    const started = pending.get(request)?.since;
    if (entry) change(entry);
    if (entry && started !== undefined) entry.ms = Math.round(performance.now() - started);
    pending.delete(request);
    look();
  };
  const addRequest = (entry: RequestEntry) => {
    requests.push(entry);
    if (requests.length > MAX_ENTRIES) requests.shift();
  };
  context.on("request", (request) => {
    const number = ++counted.requests;
    const url = toShownUrl(request.url());
    const entry: RequestEntry = {
      ...{ number, tab: tabOfRequest(request), method: request.method(), type: request.resourceType() },
      url: url.startsWith("data:") ? `${url.slice(0, 40)}…` : url,
    };
    entries.set(request, entry);
    addRequest(entry);
    pending.set(request, { number, since: performance.now() });
    look();
  });
  context.on("response", (response) => {
    const entry = entries.get(response.request());
    if (entry) entry.status = response.status();
    const refusal =
      response.status() === 403 || response.status() === 502 ? refused(response.url()) : undefined;
    if (entry && refusal) entry.failure = refusal;
  });
  context.on("requestfinished", (request) => settle(request, () => {}));
  context.on("requestfailed", (request) =>
    settle(request, (entry) => {
      entry.failure = refused(request.url()) ?? request.failure()?.errorText ?? "failed";
    }),
  );

  const addConsole = (tab: string, level: string, text: string, at?: string) => {
    const number = ++counted.console;
    console.push({ number, tab, level, text: text.slice(0, MAX_TEXT_CHARS), ...(at && { at }) });
    if (console.length <= MAX_ENTRIES) return;
    console.shift();
    dropped++;
  };
  const placeOf = (message: ConsoleMessage): string | undefined => {
    const { url, line } = message.location();
    return url ? `${toShownUrl(url)}:${line + 1}` : undefined;
  };

  /** Resolves when it holds, or the time is up. */
  const when = async (holds: () => boolean, ms: number): Promise<void> => {
    if (holds()) return;
    await new Promise<void>((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        waiting.delete(check);
        resolve();
      };
      const check = () => holds() && finish();
      const timer = setTimeout(finish, ms);
      waiting.add(check);
    });
  };

  return {
    console,
    requests,
    downloads,
    droppedConsole: () => dropped,
    dialog: () => open,
    dialogOpens: () => opens.promise,
    dialogAnswered() {
      open = undefined;
      opens = Promise.withResolvers();
    },
    quiet: ({ request: since, downloads: known }, ms) =>
      when(() => {
        const isLoading = [...pending].some(
          ([request, { number }]) => number > since && AWAITED.has(request.resourceType()),
        );
        // A document that was aborted became a download, which is reported a moment later.
        const isDownload = requests.some(
          ({ number, type, failure }) => number > since && type === "document" && failure === ABORTED,
        );
        return !isLoading && !(isDownload && downloads.length === known);
      }, ms),
    async downloadsBegin(links, since, ms) {
      const isNew = ({ url }: DownloadEntry) => links.includes(url) || !late.has(url);
      const isSettled = () =>
        downloads.slice(since.downloads).filter(isNew).length >= links.length ||
        requests.some(({ number, type }) => number > since.request && type === "document");
      await when(isSettled, ms);
      if (isSettled()) return [];
      for (const link of links) late.add(link);
      return links;
    },
    now: () => ({ request: counted.requests, console: counted.console, downloads: downloads.length }),
    watch(page, tab) {
      tabOf.set(page, tab);
      page.on("console", (message) => addConsole(tab, message.type(), message.text(), placeOf(message)));
      page.on("pageerror", (error) =>
        addConsole(tab, "error", error.stack?.split("\n    at ")[0] ?? error.message),
      );
      page.on("websocket", (socket) => {
        const entry: RequestEntry = {
          ...{ number: ++counted.requests, tab, method: "GET", url: socket.url(), type: "websocket" },
        };
        addRequest(entry);
        socket.on("socketerror", (error) => {
          entry.failure = refused(socket.url()) ?? error;
        });
      });
      page.on("dialog", (dialog) => {
        // Leaving the page was requested.
        if (dialog.type() === "beforeunload") return void dialog.accept().catch(() => {});
        open = { tab, dialog };
        opens.resolve(open);
      });
      page.on("download", (download) => {
        const id = `d${downloads.length + 1}`;
        const exceeded = limit.watch(download);
        const url = toShownUrl(download.url());
        downloads.push({ id, name: download.suggestedFilename(), url, download, exceeded });
        look();
      });
    },
    clear() {
      console.length = 0;
      requests.length = 0;
    },
  };
}
