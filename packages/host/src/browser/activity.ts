import { attempt } from "@octant/core";
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

/** A point in time, for waiting and for reporting what is new. */
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

/** The events in a profile besides the requested actions. */
export class Activity {
  readonly console: ConsoleEntry[] = [];
  readonly requests: RequestEntry[] = [];
  readonly downloads: DownloadEntry[] = [];
  /** The number of console entries that were dropped. */
  droppedConsole = 0;
  dialog: OpenDialog | undefined;
  readonly #refused: (url: string) => string | undefined;
  readonly #limit: DownloadLimit;
  readonly #entries = new WeakMap<Request, RequestEntry>();
  readonly #pending = new Map<Request, { readonly number: number; readonly since: number }>();
  readonly #waiting = new Set<() => void>();
  readonly #tabOf = new WeakMap<Page, string>();
  /** Links whose downloads had not begun when they were reported. */
  readonly #late = new Set<string>();
  readonly #counted = { console: 0, requests: 0 };
  #dialogOpens = Promise.withResolvers<OpenDialog>();

  constructor(
    context: BrowserContext,
    refused: (url: string) => string | undefined,
    downloadLimit: DownloadLimit,
  ) {
    this.#refused = refused;
    this.#limit = downloadLimit;
    context.on("request", (request) => this.#begin(request));
    context.on("response", (response) => {
      const entry = this.#entries.get(response.request());
      if (!entry) return;
      entry.status = response.status();
      const refusal = entry.status === 403 || entry.status === 502 ? refused(response.url()) : undefined;
      if (refusal) entry.failure = refusal;
    });
    context.on("weberror", (failure) => {
      const page = failure.page();
      const { url, line } = failure.location();
      const at = url ? `${toShownUrl(url)}:${line + 1}` : undefined;
      this.#log((page && this.#tabOf.get(page)) ?? "", "error", textOf(failure.error()), at);
    });
    context.on("requestfinished", (request) => this.#settle(request));
    context.on("requestfailed", (request) =>
      this.#settle(request, refused(request.url()) ?? request.failure()?.errorText ?? "failed"),
    );
  }

  now(): Marker {
    const { requests, console } = this.#counted;
    return { request: requests, console, downloads: this.downloads.length };
  }

  watch(page: Page, tab: string): void {
    this.#tabOf.set(page, tab);
    page.on("console", (message) => this.#log(tab, message.type(), message.text(), placeOf(message)));
    page.on("websocket", (socket) => {
      const url = socket.url();
      const entry = this.#add({ tab, method: "GET", url, type: "websocket" });
      socket.on("socketerror", (error) => {
        entry.failure = this.#refused(url) ?? error;
      });
    });
    page.on("dialog", (dialog) => {
      // Leaving the page was requested.
      if (dialog.type() === "beforeunload") return void dialog.accept().catch(() => {});
      this.dialog = { tab, dialog };
      this.#dialogOpens.resolve(this.dialog);
    });
    page.on("download", (download) => {
      const id = `d${this.downloads.length + 1}`;
      const exceeded = this.#limit.watch(download);
      const url = toShownUrl(download.url());
      this.downloads.push({ id, name: download.suggestedFilename(), url, download, exceeded });
      this.#look();
    });
  }

  /** Resolves when a dialog opens. */
  dialogOpens(): Promise<OpenDialog> {
    return this.#dialogOpens.promise;
  }

  dialogAnswered(): void {
    this.dialog = undefined;
    this.#dialogOpens = Promise.withResolvers();
  }

  /** Resolves when no request that began after `since` is pending, or the time is up. */
  quiet({ request: since, downloads: known }: Marker, ms: number): Promise<void> {
    return this.#when(() => {
      const isLoading = [...this.#pending].some(
        ([request, { number }]) => number > since && AWAITED.has(request.resourceType()),
      );
      // A document that was aborted became a download, which is reported a moment later.
      const isDownload = this.requests.some(
        ({ number, type, failure }) => number > since && type === "document" && failure === ABORTED,
      );
      return !isLoading && !(isDownload && this.downloads.length === known);
    }, ms);
  }

  /**
   * Resolves when links that were used since then have begun to download, or turned out to lead to a page; with the
   * links when the time is up before.
   */
  async downloadsBegin(links: readonly string[], since: Marker, ms: number): Promise<readonly string[]> {
    const isNew = ({ url }: DownloadEntry) => links.includes(url) || !this.#late.has(url);
    const isSettled = () =>
      this.downloads.slice(since.downloads).filter(isNew).length >= links.length ||
      this.requests.some(({ number, type }) => number > since.request && type === "document");
    await this.#when(isSettled, ms);
    if (isSettled()) return [];
    for (const link of links) this.#late.add(link);
    return links;
  }

  #begin(request: Request): void {
    const url = toShownUrl(request.url());
    const entry = this.#add({
      tab: this.#tabOfRequest(request),
      method: request.method(),
      type: request.resourceType(),
      url: url.startsWith("data:") ? `${url.slice(0, 40)}…` : url,
    });
    this.#entries.set(request, entry);
    this.#pending.set(request, { number: entry.number, since: performance.now() });
    this.#look();
  }

  #settle(request: Request, failure?: string): void {
    const entry = this.#entries.get(request);
    const started = this.#pending.get(request)?.since;
    if (entry && failure !== undefined) entry.failure = failure;
    if (entry && started !== undefined) entry.ms = Math.round(performance.now() - started);
    this.#pending.delete(request);
    this.#look();
  }

  #add(facts: Omit<RequestEntry, "number">): RequestEntry {
    const entry = { number: ++this.#counted.requests, ...facts };
    this.requests.push(entry);
    if (this.requests.length > MAX_ENTRIES) this.requests.shift();
    return entry;
  }

  #log(tab: string, level: string, text: string, at?: string): void {
    const number = ++this.#counted.console;
    this.console.push({ number, tab, level, text: text.slice(0, MAX_TEXT_CHARS), ...(at && { at }) });
    if (this.console.length <= MAX_ENTRIES) return;
    this.console.shift();
    this.droppedConsole++;
  }

  #tabOfRequest(request: Request): string {
    // A service worker's request has no frame.
    return attempt(() => this.#tabOf.get(request.frame().page())) ?? "";
  }

  #look(): void {
    for (const check of this.#waiting) check();
  }

  /** Resolves when it holds, or the time is up. */
  async #when(holds: () => boolean, ms: number): Promise<void> {
    if (holds()) return;
    const done = Promise.withResolvers<void>();
    const check = () => holds() && done.resolve();
    const timer = setTimeout(done.resolve, ms);
    this.#waiting.add(check);
    await done.promise;
    clearTimeout(timer);
    this.#waiting.delete(check);
  }
}

/** A script that cannot be parsed has no stack. */
const textOf = ({ name, message, stack }: Error): string =>
  stack?.split("\n    at ")[0] || [name, message].filter(Boolean).join(": ");

function placeOf(message: ConsoleMessage): string | undefined {
  const { url, line } = message.location();
  return url ? `${toShownUrl(url)}:${line + 1}` : undefined;
}
