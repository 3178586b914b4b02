import { action, ofKind, ToolError } from "@octant/core";
import { type Acting, invalid, messageOf, PageAnswer, toSiteUrl } from "@octant/host";
import { z } from "zod";
import { pageText, type UiOptions } from "./acting.ts";
import { PageProfile, timeout } from "./inputs.ts";

const MAX_URL_CHARS = 16_384;
/** The answer has to be there before the call becomes a job. */
const NAVIGATE_MS = 20_000;
const MAX_ATTEMPTS = 3;
const INTERRUPTED_MS = 3_000;

export const navigate = (options: UiOptions) =>
  action({
    summary: "Open a URL or a file of the workspace in the browser, or go back, forward, or reload.",
    access: "write",
    timing: "async_short",
    intent: "verify",
    openWorld: true,
    input: z
      .strictObject({
        url: ofKind("address", z.string().min(1).max(MAX_URL_CHARS))
          .optional()
          .describe("URL or workspace path"),
        history: z.enum(["back", "forward", "reload"]).optional(),
        timeout: timeout.default(NAVIGATE_MS),
        profile: PageProfile,
      })
      .refine(
        ({ url, history }) => (url === undefined) !== (history === undefined),
        "give either url or history",
      ),
    output: PageAnswer.extend({
      status: z.int().nullable().describe("HTTP status; null if there is none"),
      loaded: z.boolean().describe("False while it is still loading; the page can already be used"),
    }),
    errors: [
      "NET_BLOCKED",
      "UPSTREAM_ERROR",
      "TIMEOUT",
      "UNSUPPORTED",
      "NOT_FOUND",
      "OUTSIDE_WORKSPACE",
      "EXEC_FAILED",
      "LIMIT_EXCEEDED",
      "CONFLICT",
      "SANDBOX_UNAVAILABLE",
    ],
    examples: [
      { title: "A local development server", input: { url: "http://localhost:3/" }, fails: "UPSTREAM_ERROR" },
      {
        title: "A refused address",
        input: { url: "http://169.254.169.254/latest/meta-data/" },
        fails: "NET_BLOCKED",
      },
      {
        title: "Back, when nothing is open",
        input: { history: "back", profile: "second" },
        fails: "NOT_FOUND",
      },
    ],
    async run({ url, history, timeout: timeoutMs, profile: name }, ctx) {
      const { browsers, isRemote } = options;
      ctx.backend("browser");
      const owner = ctx.caller.id;
      const place = url === undefined ? undefined : toPageUrl(options, url, isRemote(ctx.caller));
      const known = browsers.find(owner, name);
      const profile =
        known ?? (place === undefined ? undefined : await browsers.open(owner, name, isRemote(ctx.caller)));
      const active = profile?.active();
      if (profile && place !== undefined && (!active || active.hasCrashed)) await profile.newTab();
      if (place !== undefined && active?.hasCrashed) await active.page.close();
      if (!profile)
        throw new ToolError("NOT_FOUND", `no page is open in profile '${name}'; give a url`, { id: name });
      const { value, page } = await profile.act({ timeoutMs, signal: ctx.signal }, async (acting) => {
        const arrived = await go(acting, place, history, timeoutMs);
        const refusal = arrived.url === undefined ? undefined : profile.refused(arrived.url);
        if (refusal && arrived.isError) throw refusal;
        if (arrived.failure !== undefined) throw arrived.failure;
        return arrived;
      });
      return { ...page, status: value?.status ?? null, loaded: value?.loaded ?? false };
    },
    text: (data) =>
      pageText(data, [data.status !== null && `status ${data.status}`, !data.loaded && "still loading"]),
  });

/** The address to open; INVALID_ARGUMENT, NET_BLOCKED or a file error when it is not allowed. */
function toPageUrl(
  { workspace: { confinement }, network }: UiOptions,
  url: string,
  isRemote: boolean,
): string {
  const parsed = URL.parse(url);
  if (parsed?.protocol === "http:" || parsed?.protocol === "https:")
    return withCredentials(network.checkUrl(url, isRemote), parsed).href + parsed.hash;
  if (url === "about:blank" || parsed?.protocol === "data:") return url;
  if (/^https?:/i.test(url)) throw invalid("url", `'${url}' is not a URL`);
  if (parsed && parsed.protocol !== "file:" && !/^[a-z]:$/i.test(parsed.protocol)) {
    const isHost = /^[\w.-]+:\d+(?:\/|$)/.test(url);
    const other = isHost ? `write http://${url}` : "http, https and data URLs and files of the workspace can";
    throw invalid("url", `${isHost ? url : parsed.protocol} cannot be opened; ${other}`);
  }
  using file = confinement.openFile(confinement.toPath(url));
  return toSiteUrl(file.path);
}

/** The browser answers the server's question with them; addresses that are checked and shown have none. */
function withCredentials(checked: URL, { username, password }: URL): URL {
  const url = new URL(checked);
  url.username = username;
  url.password = password;
  return url;
}

type Page = Acting["page"];

interface Arrival {
  readonly status: number | null;
  readonly loaded: boolean;
  readonly url: string | undefined;
  readonly isError: boolean;
  readonly failure?: unknown;
}

const FORBIDDEN = 403;
const BAD_GATEWAY = 502;

async function go(
  { page, tab, waits }: Acting,
  url: string | undefined,
  history: "back" | "forward" | "reload" | undefined,
  timeoutMs: number,
): Promise<Arrival> {
  const started = performance.now();
  const how = { ...waits, waitUntil: "commit" } as const;
  // A script that never ends would keep the browser on its page.
  await tab.free();
  if ((history === "back" || history === "forward") && !(await tab.hasHistory(history)))
    throw new ToolError("NOT_FOUND", `there is no page to go ${history} to`, { id: history });
  try {
    const response =
      url !== undefined
        ? await open(page, url, how)
        : history === "back"
          ? await page.goBack(how)
          : history === "forward"
            ? await page.goForward(how)
            : await page.reload(how);
    const status = response?.status() ?? null;
    const isError = status === FORBIDDEN || status === BAD_GATEWAY;
    const left = Math.max(1, timeoutMs - (performance.now() - started));
    const loaded = await page.waitForLoadState("load", { timeout: left, signal: waits.signal }).then(
      () => true,
      () => false,
    );
    return { status, loaded, url: response?.url(), isError };
  } catch (cause) {
    // A download is not a page and throws.
    if (/Download is starting/.test(messageOf(cause)))
      return { status: null, loaded: true, url: undefined, isError: false };
    return { status: null, loaded: false, url: url, isError: true, failure: toFailure(cause) };
  }
}

/** A page that navigates by itself, such as to an error page, interrupts this navigation without preventing it. */
async function open(
  page: Page,
  url: string,
  how: Parameters<Page["goto"]>[1],
  attempt = 1,
): ReturnType<Page["goto"]> {
  try {
    return await page.goto(url, how);
  } catch (cause) {
    if (attempt >= MAX_ATTEMPTS || !/interrupted by another navigation/.test(messageOf(cause))) throw cause;
    await page.waitForLoadState("domcontentloaded", { timeout: INTERRUPTED_MS }).catch(() => {});
    return page.url() === url ? null : open(page, url, how, attempt + 1);
  }
}

/** `net::ERR_…` is all that the browser reports. */
function toFailure(cause: unknown): unknown {
  const [code] = /net::ERR_[A-Z_]+/.exec(messageOf(cause)) ?? [];
  if (code === undefined) return cause;
  return new ToolError("UPSTREAM_ERROR", `the page could not be loaded (${code})`, {}, { cause });
}
