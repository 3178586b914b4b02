import { type Acting, EDITORS, invalid, messageOf } from "@octant/host";
import { z } from "zod";
import { acting } from "./acting.ts";
import { Profile, Target, timeout } from "./inputs.ts";
import { MODIFIERS } from "./pointer.ts";

const MAX_TEXT_CHARS = 100_000;
const MAX_KEYS = 100;
/** To the end of the text; End alone stays in the line. */
const END = process.platform === "darwin" ? "Meta+ArrowDown" : "Control+End";
const SELECT_ALL = "ControlOrMeta+a";
const KEY_NAMES = "names are as in Enter, ArrowDown, PageUp, F5, a or Control+Shift+a";

export const type = acting({
  summary: "Fill a field with text, or type into the focused element.",
  openWorld: true,
  destructive: true,
  input: z.strictObject({
    text: z.string().max(MAX_TEXT_CHARS),
    target: Target.optional(),
    append: z.boolean().default(false).describe("Type key by key after the existing text"),
    submit: z.boolean().default(false).describe("Then press Enter"),
    timeout,
    profile: Profile,
  }),
  examples: [
    { title: "Fill and send", input: { text: "lamp", target: "#q", submit: true }, fails: "NOT_FOUND" },
  ],
  async screen({ text, submit }, screen, signal) {
    await screen.type(text, signal);
    if (submit) await screen.press(["Return"], signal);
    return `typed ${text.length} characters`;
  },
  async page({ text, target, append, submit }, on) {
    const { page, locator, waits } = on;
    if (target === undefined) await page.keyboard.type(text);
    else if (await isEditor(on, locator)) {
      await writeInEditor(on, locator, text, append);
      if (submit) await page.keyboard.press("Enter");
      return;
    } else if (append) {
      await locator.focus(waits);
      await locator.press(END, waits);
      await locator.pressSequentially(text, waits);
    } else await fillField(on, locator, text);
    if (submit && target !== undefined) await locator.press("Enter", waits);
    else if (submit) await page.keyboard.press("Enter");
  },
});

/** Replaces the text of a field or a code editor. */
export async function fillField(on: Acting, locator: Acting["locator"], text: string): Promise<void> {
  const { waits } = on;
  if (await isEditor(on, locator)) return writeInEditor(on, locator, text, false);
  await checkFormat(on, locator, text);
  await locator.fill(text, waits);
  // Some pages react to key events, which filling does not send; this key changes nothing.
  await locator.press("Shift", waits);
}

const isEditor = async ({ runOn }: Acting, locator: Acting["locator"]): Promise<boolean> =>
  (await runOn(locator, `(element) => element.matches(${JSON.stringify(EDITORS)})`)) === true;

/** A code editor draws its text and reads keys from a hidden field. */
async function writeInEditor(
  { page, waits }: Acting,
  locator: Acting["locator"],
  text: string,
  append: boolean,
): Promise<void> {
  await locator.click(waits);
  await page.keyboard.press(append ? END : SELECT_ALL);
  await page.keyboard.insertText(text);
}

/** Fields that accept one form of text only, with an example. Browsers empty them when they get another. */
const FORMATS: Readonly<Record<string, string>> = {
  date: "a date such as 2026-11-16",
  time: "a time such as 12:30",
  "datetime-local": "a date and time such as 2026-11-16T12:30",
  month: "a month such as 2026-11",
  week: "a week such as 2026-W47",
  color: "a colour such as #ff8800",
  range: "a number within its limits",
};

/** INVALID_ARGUMENT, with nothing changed, when the field of the target would not keep the text. */
async function checkFormat({ runOn }: Acting, locator: Acting["locator"], text: string): Promise<void> {
  const refusedBy = await runOn(locator, toCheck(text.trim()));
  const format = typeof refusedBy === "string" ? FORMATS[refusedBy] : undefined;
  if (format !== undefined) throw invalid("text", `this field takes ${format}`);
}

/** Tries the text in a copy of the field; returns its type when the copy does not keep it. */
const toCheck = (text: string): string => `(element) => {
  const field = element.control ?? element;
  const text = ${JSON.stringify(text)};
  if (field.tagName !== "INPUT" || text === "" || !${JSON.stringify(Object.keys(FORMATS))}.includes(field.type)) return null;
  const copy = field.cloneNode();
  copy.value = text;
  const isKept =
    field.type === "color" ? CSS.supports("color", text)
    : field.type === "range" ? Number(copy.value) === Number(text)
    : copy.value !== "";
  return isKept ? null : field.type;
}`;

export const press = acting({
  summary: "Press keys and chords, one after another.",
  openWorld: true,
  destructive: true,
  input: z.strictObject({
    keys: z
      .union([z.string().min(1).max(40), z.array(z.string().min(1).max(40)).min(1).max(MAX_KEYS)])
      .describe("Enter, Control+a"),
    target: Target.optional(),
    profile: Profile,
  }),
  examples: [
    { title: "Select all, then delete", input: { keys: ["Control+a", "Delete"] }, fails: "NOT_FOUND" },
  ],
  async screen({ keys }, screen, signal) {
    await screen.press([keys].flat(), signal);
    return `pressed ${[keys].flat().join(", ")}`;
  },
  async page({ keys, target }, { page, locator, waits }) {
    try {
      for (const key of [keys].flat())
        await (target === undefined ? page.keyboard.press(key) : locator.press(key, waits));
    } catch (cause) {
      // A chord that failed half way leaves its modifiers down.
      for (const key of MODIFIERS) await page.keyboard.up(key);
      const [, unknown] = /Unknown key: "(.*)"/.exec(messageOf(cause)) ?? [];
      throw unknown === undefined ? cause : invalid("keys", `there is no key '${unknown}'; ${KEY_NAMES}`);
    }
  },
});

export const focus = acting({
  summary: "Focus an element of the page, or a window of the screen by title or pid.",
  openWorld: true,
  destructive: true,
  input: z.strictObject({ target: Target, profile: Profile }),
  examples: [{ title: "A field", input: { target: "#email" }, fails: "NOT_FOUND" }],
  screen: async ({ target }, screen, signal) => `focused ${(await screen.focus(target, signal)).title}`,
  page: (_input, { locator, waits }) => locator.focus(waits),
});
