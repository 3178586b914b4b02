import { action, Uri } from "@octant/core";
import { type Acting, invalid, isTimeout, PageAnswer, toTargetError } from "@octant/host";
import { z } from "zod";
import { act, acting, PAGE_ERRORS, pageText, type UiOptions } from "./acting.ts";
import { readWorkspaceFile } from "./files.ts";
import { PageProfile, Target } from "./inputs.ts";
import { fillField } from "./keyboard.ts";

const MAX_FILES = 20;
/** Playwright's limit for uploads from memory. */
const MAX_UPLOAD_BYTES = 50 * 1024 * 1024;
const errors = [...PAGE_ERRORS, "OUTSIDE_WORKSPACE", "TOO_LARGE"] as const;

export const select = (options: UiOptions) =>
  action({
    access: "write",
    timing: "async_short",
    intent: "verify",
    openWorld: true,
    destructive: true,
    errors,
    summary: "Choose options of a select box by value or label.",
    input: z.strictObject({
      target: Target,
      values: z.array(z.string().max(1_000)).max(100),
      profile: PageProfile,
    }),
    output: PageAnswer.extend({ selected: z.array(z.string()) }),
    examples: [{ title: "One option", input: { target: "#size", values: ["Large"] }, fails: "NOT_FOUND" }],
    async run({ target, values, profile }, ctx) {
      const { page, value = [] } = await act(options, { profile, target }, ctx, async (acting) => {
        const { locator, waits } = acting;
        try {
          return await locator.selectOption(values, waits);
        } catch (cause) {
          if (isTimeout(cause)) await checkOptions(acting, values);
          throw cause;
        }
      });
      return { ...page, selected: value };
    },
    text: (data) => pageText(data, [`selected ${data.selected.join(", ")}`]),
  });

const MAX_OPTIONS = 20;
const OPTIONS =
  "(element) => [...((element.control ?? element).options ?? [])].map(({ value, label, disabled }) => [value, label.trim(), disabled])";

/** INVALID_ARGUMENT, with the options that there are, when a value is not one of them. */
async function checkOptions({ locator, run }: Acting, values: readonly string[]): Promise<void> {
  if ((await locator.count()) !== 1) return;
  // Our own script has made it.
  const found = (await run(OPTIONS, true)) as [value: string, label: string, disabled: boolean][];
  const missing = values.find(
    (wanted) =>
      !found.some(([value, label, disabled]) => !disabled && (value === wanted || label === wanted)),
  );
  if (missing === undefined || found.length === 0) return;
  const shown = found.map(([, label, disabled]) => `'${label.slice(0, 40)}'${disabled ? " (disabled)" : ""}`);
  const more = shown.length > MAX_OPTIONS ? ` and ${shown.length - MAX_OPTIONS} more` : "";
  throw invalid(
    "values",
    `'${missing}' cannot be selected; there are: ${shown.slice(0, MAX_OPTIONS).join(", ")}${more}`,
  );
}

const MAX_FIELDS = 50;
const MAX_VALUE_CHARS = 100_000;

export const fill = acting({
  summary: "Fill the fields of a form in one call: text, check boxes, options.",
  openWorld: true,
  destructive: true,
  input: z.strictObject({
    fields: z
      .array(
        z.strictObject({
          target: Target,
          value: z.string().max(MAX_VALUE_CHARS).describe("Text; true or false; an option's value or label"),
        }),
      )
      .min(1)
      .max(MAX_FIELDS),
    profile: PageProfile,
  }),
  examples: [
    {
      title: "A sign-up form",
      input: {
        fields: [
          { target: "#name", value: "Ada" },
          { target: "#terms", value: "true" },
        ],
      },
      fails: "NOT_FOUND",
    },
  ],
  async page({ fields }, on) {
    const { waits } = on;
    const found: { target: string; value: string; kind: unknown; locator: Acting["locator"] }[] = [];
    // All of them are found before the first one changes.
    for (const { target, value } of fields) {
      const locator = await on.find(target);
      if (!locator) continue;
      try {
        found.push({ target, value, locator, kind: await on.runOn(locator, KIND) });
      } catch (cause) {
        throw await toTargetError(cause, target, locator, waits.timeout);
      }
    }
    for (const { target, value, kind, locator } of found) {
      try {
        if (kind === "check") await locator.setChecked(toChecked(target, value), waits);
        else if (kind === "select") await locator.selectOption(value, waits);
        else await fillField(on, locator, value);
      } catch (cause) {
        throw await toTargetError(cause, target, locator, waits.timeout);
      }
    }
  },
});

const KIND = `(element) => {
  const field = element.control ?? element;
  if (field.tagName === "SELECT") return "select";
  const isCheck = /^(checkbox|radio|switch)$/.test(field.getAttribute("role") ?? "") || (field.tagName === "INPUT" && /^(checkbox|radio)$/.test(field.type));
  return isCheck ? "check" : "text";
}`;

function toChecked(target: string, value: string): boolean {
  if (value === "true" || value === "false") return value === "true";
  throw invalid("fields", `${target} is a check box; its value is true or false`);
}

export const upload = acting({
  summary: "Give files of the workspace to a file field or to an element that opens a file chooser.",
  listing: "brief",
  openWorld: true,
  destructive: true,
  errors,
  input: z.strictObject({
    target: Target,
    files: z.array(Uri).min(1).max(MAX_FILES),
    drop: z.boolean().default(false).describe("Drop them on the element, as from a file manager"),
    profile: PageProfile,
  }),
  examples: [
    { title: "A picture", input: { target: "input[type=file]", files: ["README.md"] }, fails: "NOT_FOUND" },
  ],
  async page({ files, drop }, { locator, page, waits, runOn }, options) {
    const read = files.map((uri) => readWorkspaceFile(options, uri, MAX_UPLOAD_BYTES));
    const total = read.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (total > MAX_UPLOAD_BYTES) throw invalid("files", `more than ${MAX_UPLOAD_BYTES} bytes in total`);
    if (drop) {
      const dropped = read.map(({ name, bytes }) => ({ name, base64: bytes.toString("base64") }));
      await runOn(locator, `(element) => (${DROP})(element, ${JSON.stringify(dropped)})`);
      return;
    }
    const payload = read.map(({ name, bytes }) => ({ name, mimeType: "", buffer: bytes }));
    if ((await locator.getAttribute("type", waits)) === "file") {
      await locator.setInputFiles(payload, waits);
      return;
    }
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser", waits).catch(() => undefined),
      locator.click(waits),
    ]);
    if (!chooser)
      throw invalid(
        "target",
        "not a file field, and a click on it opened no file chooser; ui.snapshot shows fields",
      );
    await chooser.setFiles(payload, waits);
  },
});

/** The events of a drag that ends on the element. */
const DROP = `(element, files) => {
  const dataTransfer = new DataTransfer();
  for (const { name, base64 } of files)
    dataTransfer.items.add(new File([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))], name));
  const { x, y, width, height } = element.getBoundingClientRect();
  const init = { bubbles: true, cancelable: true, composed: true, dataTransfer, clientX: x + width / 2, clientY: y + height / 2 };
  for (const type of ["dragenter", "dragover", "drop"]) element.dispatchEvent(new DragEvent(type, init));
}`;
