import { type Context, ToolError } from "@octant/core";
import { type Acting, noPage, type Profile, type Screen } from "@octant/host";
import { SCREEN, toPoint } from "./inputs.ts";
import type { UiOptions } from "./options.ts";
import { type PageAnswer, toPageAnswer } from "./page-answer.ts";

const DEFAULT_TIMEOUT_MS = 5_000;

export interface ActInput {
  readonly profile: string;
  readonly target?: string | undefined;
  readonly timeout?: number | undefined;
}

/** The profile that a caller has open; NOT_FOUND with what to do when it has none of that name. */
export function findProfile({ browsers }: UiOptions, name: string, ctx: Context): Profile {
  ctx.backend("browser");
  const profile = browsers.find(ctx.caller.id, name);
  if (!profile) throw noPage(name);
  return profile;
}

/** Does something on a page, and answers with what came of it. */
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

/** Looks at a page without telling what changed. */
export function look<T>(
  options: UiOptions,
  input: ActInput,
  ctx: Context,
  work: (acting: Acting) => Promise<T>,
): Promise<T> {
  return findProfile(options, input.profile, ctx).look(toActOptions(input, ctx), work);
}

/** A point is no element to wait for. */
const toActOptions = ({ target, timeout = DEFAULT_TIMEOUT_MS }: ActInput, ctx: Context) => ({
  target: toPoint(target) ? undefined : target,
  timeoutMs: timeout,
  signal: ctx.signal,
});

/** The desktop, where a call is for it; UNSUPPORTED or PERMISSION_DENIED when it cannot be had. */
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
