import { type Context, ToolError } from "@octant/core";
import { type Acting, invalid, messageOf, noPage, type Profile, type Screen } from "@octant/host";
import { SCREEN, toPoint } from "./inputs.ts";
import type { UiOptions } from "./options.ts";
import { type PageAnswer, toPageAnswer } from "./page-answer.ts";

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
export async function act<T>(
  options: UiOptions,
  input: ActInput,
  ctx: Context,
  work: (acting: Acting) => Promise<T>,
): Promise<{ page: PageAnswer; value?: T }> {
  const profile = findProfile(options, input.profile, ctx);
  const { value, report } = await profile.act(toActOptions(input, ctx), work);
  return { page: toPageAnswer(report), ...(value !== undefined && { value }) };
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

/** A refusal by Playwright here is the caller's mistake. */
export async function orRefused(path: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    throw invalid(path, messageOf(cause), cause);
  }
}

/** There is no element to wait for at a point. */
const toActOptions = ({ target, timeout = DEFAULT_TIMEOUT_MS }: ActInput, ctx: Context) => ({
  target: toPoint(target) ? undefined : target,
  timeoutMs: timeout,
  signal: ctx.signal,
});

/** The desktop, when the call is for it; UNSUPPORTED or PERMISSION_DENIED when it is unavailable. */
export function onScreen({ screen, isRemote }: UiOptions, profile: string, ctx: Context): Screen | undefined {
  if (profile !== SCREEN) return undefined;
  ctx.backend("screen");
  if (isRemote(ctx.caller))
    throw new ToolError(
      "PERMISSION_DENIED",
      "the screen belongs to the person at this machine, not to remote callers",
      {
        by: "ui",
        rule: "screen",
      },
    );
  screen.check();
  return screen;
}
