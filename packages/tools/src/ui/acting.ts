import {
  type Action,
  type ActionText,
  action,
  type Caller,
  type Context,
  counted,
  ToolError,
} from "@octant/core";
import type { Screen } from "@octant/desktop";
import {
  type Acting,
  type Browsers,
  invalid,
  messageOf,
  type Network,
  noPage,
  PageAnswer,
  type Profile,
  UNTRUSTED,
  type Workspace,
} from "@octant/host";
import { z } from "zod";
import { SCREEN, toPoint } from "./inputs.ts";

/** The dependencies of the ui tool. */
export interface UiOptions {
  readonly browsers: Browsers;
  readonly screen: Screen;
  readonly network: Pick<Network, "checkUrl">;
  readonly workspace: Pick<Workspace, "blobs" | "confinement" | "edits" | "files" | "state">;
  /** Whether a caller is remote: this machine's hosts and screen are then unavailable. */
  isRemote(caller: Caller): boolean;
}

const DEFAULT_TIMEOUT_MS = 5_000;

export interface ActInput {
  readonly profile: string;
  readonly target?: string | undefined;
  readonly timeout?: number | undefined;
}

/** The caller's open profile; NOT_FOUND with instructions when there is none of that name. */
export function findProfile({ browsers }: UiOptions, name: string, ctx: Context): Profile {
  ctx.backend("browser");
  const profile = browsers.find(ctx.caller.id, name);
  if (!profile) throw noPage(name);
  return profile;
}

/** Performs an action on a page and returns its effects. */
export function act<T>(
  options: UiOptions,
  input: ActInput,
  ctx: Context,
  work: (acting: Acting) => Promise<T>,
): Promise<{ page: PageAnswer; value?: T }> {
  return findProfile(options, input.profile, ctx).act(toActOptions(input, ctx), work);
}

/** Reads a page without reporting changes. */
export function look<T>(
  options: UiOptions,
  input: ActInput,
  ctx: Context,
  work: (acting: Acting) => Promise<T>,
): Promise<T> {
  return findProfile(options, input.profile, ctx).look(toActOptions(input, ctx), work);
}

/** There is no element to wait for at a point. */
const toActOptions = ({ target, timeout = DEFAULT_TIMEOUT_MS }: ActInput, ctx: Context) => ({
  target: toPoint(target) ? undefined : target,
  timeoutMs: timeout,
  signal: ctx.signal,
});

/** Pages report what changed; the desktop only that it was done. */
const Acted = z.union([PageAnswer, z.object({ done: z.string() })]);

export const PAGE_ERRORS = ["NOT_FOUND", "CONFLICT", "TIMEOUT", "UPSTREAM_ERROR"] as const;
export const ACT_ERRORS = [...PAGE_ERRORS, "UNSUPPORTED", "PERMISSION_DENIED", "EXEC_FAILED"] as const;

type Declared<I extends z.ZodObject> = Pick<Action<I>, "summary" | "input" | "examples"> &
  Partial<Pick<Action<I>, "listing" | "destructive" | "timing" | "openWorld" | "errors">> & {
    page(input: z.output<I>, acting: Acting, options: UiOptions): Promise<unknown>;
    /** Returns what was done. Absent where the action needs a page. */
    screen?(input: z.output<I>, screen: Screen, signal: AbortSignal): Promise<string>;
  };

/** Declares an action on a page, and perhaps on the desktop, that returns its effects. */
export const acting =
  <I extends z.ZodObject>({ page, screen, ...declared }: Declared<I>) =>
  (options: UiOptions) =>
    action({
      access: "write",
      timing: "async_short",
      intent: "verify",
      errors: screen ? ACT_ERRORS : PAGE_ERRORS,
      ...declared,
      // The answer of a page is one of the two.
      output: (screen ? Acted : PageAnswer) as typeof Acted,
      async run(input, ctx) {
        const given = input as z.output<I> & ActInput; // Each of these inputs has a profile.
        const desktop = screen && onScreen(options, given.profile, ctx);
        if (screen && desktop) return { done: await screen(input, desktop, ctx.signal) };
        return (await act(options, given, ctx, (on) => page(input, on, options))).page;
      },
      text: (data) => ("done" in data ? { body: data.done } : pageText(data)),
    });

/** A refusal by Playwright here is the caller's mistake. */
export async function orRefused(path: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    throw invalid(path, messageOf(cause), cause);
  }
}

/** The desktop, when the call is for it; UNSUPPORTED or PERMISSION_DENIED when it is unavailable. */
export function onScreen({ screen, isRemote }: UiOptions, profile: string, ctx: Context): Screen | undefined {
  if (profile !== SCREEN) return undefined;
  ctx.backend("screen");
  if (isRemote(ctx.caller)) {
    const message = "the screen belongs to the person at this machine, not to remote callers";
    throw new ToolError("PERMISSION_DENIED", message, { by: "ui", rule: "screen" });
  }
  screen.check();
  return screen;
}

/** Title and address, the changes, then other events. */
export function pageText(page: PageAnswer, first: readonly (string | false)[] = []): ActionText {
  const { title, url, changes, more_changes: more = 0 } = page;
  const same = page.new_page ? "the page is empty" : "nothing visible changed";
  const nothing = page.dialog || page.closed ? "" : same;
  const lines = [
    title ? `${title} <${url}>` : `<${url}>`,
    changes || nothing,
    more > 0 && `… ${counted(more, "more line")}: ui.snapshot`,
    page.dialog && `dialog: ${page.dialog.type} '${page.dialog.message}' is open; answer it with ui.dialog`,
    ...(page.errors ?? []).map((text) => `console error: ${text}`),
    ...(page.blocked ?? []).map((text) => `blocked: ${text}`),
    ...(page.downloads ?? []).map(
      ({ download, name }) => `download ${download}: ${name} (ui.download saves it)`,
    ),
    ...(page.awaited_downloads ?? []).map(
      (link) => `the download of <${link}> has not begun; a later answer names it`,
    ),
    ...(page.opened ?? []).map(({ tab, url: other }) => `opened tab ${tab}: ${other}`),
    page.closed && "the page closed itself",
  ];
  return {
    body: lines.filter(Boolean).join("\n"),
    notes: [...first, UNTRUSTED],
    handles: { tab: page.tab },
  };
}
