import { action } from "@octant/core";
import { invalid, messageOf } from "@octant/host";
import { z } from "zod";
import { act, onScreen } from "./acting.ts";
import { checkFormat } from "./field-formats.ts";
import { Profile, Target, timeout } from "./inputs.ts";
import type { UiOptions } from "./options.ts";
import { ACT_ERRORS, Acted, actedText, MODIFIERS } from "./pointer.ts";

const MAX_TEXT_CHARS = 100_000;
const MAX_KEYS = 100;
/** To the end of the text; End alone stays in the line. */
const END = process.platform === "darwin" ? "Meta+ArrowDown" : "Control+End";
const KEY_NAMES = "names are as in Enter, ArrowDown, PageUp, F5, a or Control+Shift+a";
const base = {
  access: "write",
  timing: "async_short",
  intent: "verify",
  openWorld: true,
  destructive: true,
  errors: ACT_ERRORS,
} as const;

export const type = (options: UiOptions) =>
  action({
    ...base,
    summary: "Fill a field with text, or type into the focused element.",
    input: z.strictObject({
      text: z.string().max(MAX_TEXT_CHARS),
      target: Target.optional(),
      append: z.boolean().default(false).describe("Type key by key after the existing text"),
      submit: z.boolean().default(false).describe("Then press Enter"),
      timeout,
      profile: Profile,
    }),
    output: Acted,
    examples: [
      { title: "Fill and send", input: { text: "lamp", target: "#q", submit: true }, fails: "NOT_FOUND" },
    ],
    async run({ text, target, append, submit, timeout: timeoutMs, profile }, ctx) {
      const screen = onScreen(options, profile, ctx);
      if (screen) {
        await screen.type(text, ctx.signal);
        if (submit) await screen.press(["Return"], ctx.signal);
        return { done: `typed ${text.length} characters` };
      }
      const { page } = await act(options, { profile, target, timeout: timeoutMs }, ctx, async (acting) => {
        const { page: shown, locator, waits } = acting;
        if (target === undefined) await shown.keyboard.type(text);
        else if (append) {
          await locator.focus(waits);
          await locator.press(END, waits);
          await locator.pressSequentially(text, waits);
        } else {
          await checkFormat(acting, text);
          await locator.fill(text, waits);
          // Some pages react to key events, which filling does not send; this key changes nothing.
          await locator.press("Shift", waits);
        }
        if (submit && target !== undefined) await locator.press("Enter", waits);
        else if (submit) await shown.keyboard.press("Enter");
      });
      return page;
    },
    text: actedText,
  });

export const press = (options: UiOptions) =>
  action({
    ...base,
    summary: "Press keys and chords, one after another.",
    input: z.strictObject({
      keys: z
        .union([z.string().min(1).max(40), z.array(z.string().min(1).max(40)).min(1).max(MAX_KEYS)])
        .describe("Enter, Control+a"),
      target: Target.optional(),
      profile: Profile,
    }),
    output: Acted,
    examples: [
      { title: "Select all, then delete", input: { keys: ["Control+a", "Delete"] }, fails: "NOT_FOUND" },
    ],
    async run({ keys, target, profile }, ctx) {
      const list = typeof keys === "string" ? [keys] : keys;
      const screen = onScreen(options, profile, ctx);
      if (screen) {
        await screen.press(list, ctx.signal);
        return { done: `pressed ${list.join(", ")}` };
      }
      const { page } = await act(
        options,
        { profile, target },
        ctx,
        async ({ page: shown, locator, waits }) => {
          try {
            for (const key of list)
              await (target === undefined ? shown.keyboard.press(key) : locator.press(key, waits));
          } catch (cause) {
            // A chord that failed half way leaves its modifiers down.
            for (const key of MODIFIERS) await shown.keyboard.up(key);
            const [, unknown] = /Unknown key: "(.*)"/.exec(messageOf(cause)) ?? [];
            throw unknown === undefined
              ? cause
              : invalid("keys", `there is no key '${unknown}'; ${KEY_NAMES}`);
          }
        },
      );
      return page;
    },
    text: actedText,
  });

export const focus = (options: UiOptions) =>
  action({
    ...base,
    summary: "Focus an element of the page, or a window of the screen by title or pid.",
    input: z.strictObject({ target: Target, profile: Profile }),
    output: Acted,
    examples: [{ title: "A field", input: { target: "#email" }, fails: "NOT_FOUND" }],
    async run({ target, profile }, ctx) {
      const screen = onScreen(options, profile, ctx);
      if (screen) return { done: `focused ${(await screen.focus(target, ctx.signal)).title}` };
      const { page } = await act(options, { profile, target }, ctx, ({ locator, waits }) =>
        locator.focus(waits),
      );
      return page;
    },
    text: actedText,
  });
