import { action, Uri } from "@octant/core";
import { invalid } from "@octant/host";
import { z } from "zod";
import { act } from "./acting.ts";
import { readWorkspaceFile } from "./files.ts";
import { PageProfile, Target } from "./inputs.ts";
import type { UiOptions } from "./options.ts";
import { PageAnswer, pageText } from "./page-answer.ts";

const MAX_FILES = 20;
/** Playwright's limit for uploads from memory. */
const MAX_UPLOAD_BYTES = 50 * 1024 * 1024;
const errors = [
  "NOT_FOUND",
  "CONFLICT",
  "TIMEOUT",
  "UPSTREAM_ERROR",
  "OUTSIDE_WORKSPACE",
  "TOO_LARGE",
] as const;
const base = {
  access: "write",
  timing: "async_short",
  intent: "verify",
  openWorld: true,
  destructive: true,
  errors,
} as const;

export const select = (options: UiOptions) =>
  action({
    ...base,
    summary: "Choose options of a select box by value or label.",
    input: z.strictObject({
      target: Target,
      values: z.array(z.string().max(1_000)).max(100),
      profile: PageProfile,
    }),
    output: PageAnswer.extend({ selected: z.array(z.string()) }),
    examples: [{ title: "One option", input: { target: "#size", values: ["Large"] }, fails: "NOT_FOUND" }],
    async run({ target, values, profile }, ctx) {
      const { page, value = [] } = await act(options, { profile, target }, ctx, ({ locator, waits }) =>
        locator.selectOption(values, waits),
      );
      return { ...page, selected: value };
    },
    text: (data) => pageText(data, [`selected ${data.selected.join(", ")}`]),
  });

export const upload = (options: UiOptions) =>
  action({
    ...base,
    summary: "Give files of the workspace to a file field or to an element that opens a file chooser.",
    listing: "brief",
    input: z.strictObject({
      target: Target,
      files: z.array(Uri).min(1).max(MAX_FILES),
      profile: PageProfile,
    }),
    output: PageAnswer,
    examples: [
      { title: "A picture", input: { target: "input[type=file]", files: ["README.md"] }, fails: "NOT_FOUND" },
    ],
    async run({ target, files, profile }, ctx) {
      const read = files.map((uri) => readWorkspaceFile(options, uri, MAX_UPLOAD_BYTES));
      const total = read.reduce((sum, { bytes }) => sum + bytes.length, 0);
      if (total > MAX_UPLOAD_BYTES) throw invalid("files", `more than ${MAX_UPLOAD_BYTES} bytes in total`);
      const payload = read.map(({ name, bytes }) => ({ name, mimeType: "", buffer: bytes }));
      const { page } = await act(
        options,
        { profile, target },
        ctx,
        async ({ locator, page: shown, waits }) => {
          if ((await locator.getAttribute("type", waits)) === "file")
            return locator.setInputFiles(payload, waits);
          const [chooser] = await Promise.all([
            shown.waitForEvent("filechooser", waits).catch(() => undefined),
            locator.click(waits),
          ]);
          if (!chooser)
            throw invalid(
              "target",
              `not a file field, and a click on it opened no file chooser; ui.snapshot shows fields`,
            );
          await chooser.setFiles(payload, waits);
        },
      );
      return page;
    },
    text: (data) => pageText(data),
  });
