import { action, Uri } from "@octant/core";
import { type Acting, invalid, isTimeout, PageAnswer } from "@octant/host";
import { z } from "zod";
import { act, acting, PAGE_ERRORS, pageText, type UiOptions } from "./acting.ts";
import { readWorkspaceFile } from "./files.ts";
import { PageProfile, Target } from "./inputs.ts";

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

export const upload = acting({
  summary: "Give files of the workspace to a file field or to an element that opens a file chooser.",
  listing: "brief",
  openWorld: true,
  destructive: true,
  errors,
  input: z.strictObject({
    target: Target,
    files: z.array(Uri).min(1).max(MAX_FILES),
    profile: PageProfile,
  }),
  examples: [
    { title: "A picture", input: { target: "input[type=file]", files: ["README.md"] }, fails: "NOT_FOUND" },
  ],
  async page({ files }, { locator, page, waits }, options) {
    const read = files.map((uri) => readWorkspaceFile(options, uri, MAX_UPLOAD_BYTES));
    const total = read.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (total > MAX_UPLOAD_BYTES) throw invalid("files", `more than ${MAX_UPLOAD_BYTES} bytes in total`);
    const payload = read.map(({ name, bytes }) => ({ name, mimeType: "", buffer: bytes }));
    if ((await locator.getAttribute("type", waits)) === "file") return locator.setInputFiles(payload, waits);
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
