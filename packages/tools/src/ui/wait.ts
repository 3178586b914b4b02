import { action, ToolError } from "@octant/core";
import { isTimeout, PageAnswer } from "@octant/host";
import { z } from "zod";
import { act, PAGE_ERRORS, pageText, type UiOptions } from "./acting.ts";
import { PageProfile, Target, timeout } from "./inputs.ts";

const WAIT_MS = 10_000;
const MAX_SCRIPT_CHARS = 100_000;

export const wait = (options: UiOptions) =>
  action({
    summary: "Wait until something appears on or disappears from the page.",
    access: "write",
    timing: "async_medium",
    intent: "verify",
    input: z
      .strictObject({
        text: z.string().min(1).max(1_000).optional(),
        target: Target.optional(),
        gone: z.boolean().default(false).describe("Wait until it disappears"),
        url: z.string().min(1).max(2_000).optional().describe("Glob"),
        idle: z.boolean().default(false).describe("No requests"),
        script: z.string().min(1).max(MAX_SCRIPT_CHARS).optional(),
        timeout: timeout.default(WAIT_MS),
        profile: PageProfile,
      })
      .refine(
        ({ text, target, url, idle, script }) => text ?? target ?? url ?? script ?? (idle || undefined),
        "give text, target, url, idle or script: what to wait for",
      ),
    output: PageAnswer,
    errors: PAGE_ERRORS,
    examples: [{ title: "A message", input: { text: "Saved" }, fails: "NOT_FOUND" }],
    async run({ text, target, gone, url, idle, script, timeout: timeoutMs, profile }, ctx) {
      const state = gone ? "hidden" : "visible";
      const { page } = await act(
        options,
        { profile, timeout: timeoutMs },
        ctx,
        async ({ page: shown, waits, find, until }) => {
          const waitFor = (what: string, work: Promise<unknown> | undefined) =>
            work?.catch((cause: unknown) => {
              throw isTimeout(cause) ? late(what, timeoutMs, cause) : cause;
            });
          const become = gone ? "did not disappear" : "did not appear";
          if (url !== undefined)
            await waitFor(`the address did not become ${url}`, shown.waitForURL(url, waits));
          if (text !== undefined) {
            const found = shown.getByText(text).first();
            await waitFor(`the text '${text}' ${become}`, found.waitFor({ ...waits, state }));
          }
          if (target !== undefined) {
            const found = (await find(target, gone))?.first();
            await waitFor(`${target} ${become}`, found?.waitFor({ ...waits, state }));
          }
          if (script !== undefined) await until(script);
          if (idle) await waitFor("requests did not end", shown.waitForLoadState("networkidle", waits));
        },
      );
      return page;
    },
    text: (data) => pageText(data),
  });

const late = (what: string, timeoutMs: number, cause: unknown) =>
  new ToolError(
    "TIMEOUT",
    `${what} within ${timeoutMs} ms; look with ui.snapshot, or give a longer timeout`,
    { after_ms: timeoutMs },
    { cause },
  );
