import { statSync } from "node:fs";
import { action, Ref, ToolError, Uri } from "@octant/core";
import { invalid, type Profile as OpenProfile, PageAnswer, toShownUrl, UNTRUSTED } from "@octant/host";
import { z } from "zod";
import { act, findProfile, pageText, type UiOptions } from "./acting.ts";
import { checkOutput, OUTPUT_ERRORS, saveFile } from "./files.ts";
import { Output, PageProfile } from "./inputs.ts";

const Row = z.object({
  profile: z.string(),
  tab: z.string(),
  url: z.string(),
  title: z.string(),
  active: z.boolean(),
});

export const tabs = (options: UiOptions) =>
  action({
    summary: "List, open, select or close tabs; quit ends a profile with all its tabs and cookies.",
    access: "write",
    timing: "async_short",
    intent: "verify",
    input: z.strictObject({
      op: z.enum(["list", "new", "select", "close", "quit"]),
      tab: z.string().min(1).max(20).optional(),
      profile: PageProfile,
    }),
    output: z.object({ tabs: z.array(Row).describe("Of all profiles"), notice: z.string() }),
    errors: [
      "NOT_FOUND",
      "UPSTREAM_ERROR",
      "UNSUPPORTED",
      "LIMIT_EXCEEDED",
      "EXEC_FAILED",
      "SANDBOX_UNAVAILABLE",
    ],
    examples: [{ title: "List tabs", input: { op: "list" } }],
    async run({ op, tab, profile: name }, ctx) {
      const { browsers, isRemote } = options;
      const owner = ctx.caller.id;
      ctx.backend("browser");
      if (op === "new") {
        const profile = await browsers.open(owner, name, isRemote(ctx.caller));
        await profile.newTab();
      } else if (op === "quit") {
        if (!(await browsers.close(owner, name))) findProfile(options, name, ctx);
      } else if (op !== "list") {
        const profile = findProfile(options, name, ctx);
        if (op === "select") await profile.select(tab ?? noTab()).page.bringToFront();
        else await (tab === undefined ? profile.active() : profile.select(tab))?.page.close();
      }
      const rows = await Promise.all(browsers.list(owner).map(listTabs));
      return { tabs: rows.flat(), notice: UNTRUSTED };
    },
    text: ({ tabs: rows }) => ({
      body:
        rows
          .map(
            ({ profile, tab, url, title, active }) =>
              `${active ? "*" : " "} ${profile} ${tab} ${title} <${url}>`,
          )
          .join("\n") || "no tab is open",
      notes: [UNTRUSTED],
    }),
  });

const noTab = (): never => {
  throw invalid("tab", "name the tab to select; ui.tabs op list shows them");
};

const TITLE_CHARS = 100;

const listTabs = (profile: OpenProfile): Promise<z.input<typeof Row>[]> =>
  Promise.all(
    [...profile.tabs.values()].map(async (tab) => ({
      profile: profile.name,
      tab: tab.id,
      url: toShownUrl(tab.page.url()).slice(0, 1_000),
      // A page with an open dialog does not respond.
      title: profile.activity.dialog ? "" : (await tab.page.title().catch(() => "")).slice(0, TITLE_CHARS),
      active: profile.active() === tab,
    })),
  );

export const dialog = (options: UiOptions) =>
  action({
    summary: "Answer the alert, confirm or prompt that a page has open.",
    access: "write",
    timing: "async_short",
    intent: "verify",
    openWorld: true,
    destructive: true,
    input: z.strictObject({
      accept: z.boolean(),
      text: z.string().max(10_000).optional(),
      profile: PageProfile,
    }),
    output: PageAnswer,
    errors: ["NOT_FOUND", "UPSTREAM_ERROR"],
    examples: [{ title: "Confirm", input: { accept: true }, fails: "NOT_FOUND" }],
    async run({ accept, text, profile: name }, ctx) {
      const profile = findProfile(options, name, ctx);
      const open = profile.activity.dialog;
      if (!open) throw new ToolError("NOT_FOUND", `no dialog is open in profile '${name}'`, { id: name });
      profile.activity.dialogAnswered();
      const answered = accept ? open.dialog.accept(text) : open.dialog.dismiss();
      // A closed page takes its dialog with it.
      await answered.catch(() => {});
      const { page } = await act(options, { profile: name }, ctx, async () => {});
      return page;
    },
    text: (data) => pageText(data),
  });

export const download = (options: UiOptions) =>
  action({
    summary: "Save a file that the page has downloaded.",
    listing: "brief",
    access: "write",
    timing: "async_medium",
    intent: "apply",
    input: z.strictObject({
      download: z
        .string()
        .regex(/^d\d+$/, "a download is d1, d2 …, as the answer named it")
        .describe("d1, from an answer"),
      output: Output,
      profile: PageProfile,
    }),
    output: z.object({ uri: Uri, size: z.int(), undo: Ref.nullable(), url: z.string(), name: z.string() }),
    errors: ["NOT_FOUND", "UPSTREAM_ERROR", ...OUTPUT_ERRORS, "NO_SPACE", "LOCKED", "TOO_LARGE"],
    examples: [
      { title: "The first one", input: { download: "d1", output: "data/report.csv" }, fails: "NOT_FOUND" },
    ],
    async run({ download: id, output, profile: name }, ctx) {
      const { activity } = findProfile(options, name, ctx);
      const found = activity.downloads.find((one) => one.id === id);
      if (!found) throw new ToolError("NOT_FOUND", `there is no download ${id} in profile '${name}'`, { id });
      checkOutput(options, output);
      const failure = await found.download.failure();
      const limit = found.exceeded();
      if (limit !== undefined) throw tooLarge(found.name, limit);
      if (failure !== null)
        throw new ToolError("UPSTREAM_ERROR", `the download of ${found.name} failed: ${failure}`, {});
      const path = await found.download.path();
      const saved = await saveFile(options, output, path, ctx.signal);
      return { ...saved, size: statSync(path).size, url: found.url.slice(0, 1_000), name: found.name };
    },
    text: ({ uri, size, url }, reader) => ({
      body: `saved ${reader.path(uri)}, ${size} bytes from <${url}>`,
    }),
  });

const tooLarge = (name: string, limit: number) =>
  new ToolError(
    "TOO_LARGE",
    `${name} was cancelled: the downloads of a browser may have ${limit} bytes in all (ui.max_download_bytes in the settings); save what you need, then ui.tabs op quit removes the others`,
    { limit, what: "bytes of downloads" },
  );
