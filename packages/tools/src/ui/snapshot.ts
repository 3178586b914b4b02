import { ANSWER_BYTES, ANSWER_MARGIN_BYTES, action, type Hash, MAX_ANSWER_BYTES, Ref } from "@octant/core";
import { takeChanges, takeSnapshot, toRef, toShownUrl, UNTRUSTED } from "@octant/host";
import { z } from "zod";
import { look, PAGE_ERRORS, type UiOptions } from "./acting.ts";
import { PageProfile, Target } from "./inputs.ts";

const MAX_CURSOR_CHARS = 65_536;
const MAX_DEPTH = 100;
const MAX_FIND_CHARS = 1_000;

/** Where the next page of a snapshot starts. */
const Position = z.object({ hash: z.string(), offset: z.int(), url: z.string(), title: z.string() });

const Output = z.object({
  url: z.string(),
  title: z.string(),
  text: z.string().describe("One line per element: role, name, [ref], state"),
  lines: z.int().optional().describe("Lines in the whole snapshot"),
  complete: z.boolean().describe("False when the page is too large to read whole; use target or depth"),
  ref: Ref.optional().describe("The whole snapshot, when it does not fit"),
  more_changes: z.int().optional(),
  notice: z.string(),
});

/** Reading is fast, but the machine may be busy. */
const WHOLE_PAGE_MS = 20_000;

export const snapshot = (options: UiOptions) =>
  action({
    summary: "Read the page as an accessibility tree with element refs.",
    access: "read",
    timing: "async_short",
    intent: "inspect",
    input: z.strictObject({
      target: Target.optional(),
      depth: z.int().min(1).max(MAX_DEPTH).optional(),
      interactive: z.boolean().default(false).describe("Only interactive elements"),
      find: z
        .string()
        .min(1)
        .max(MAX_FIND_CHARS)
        .optional()
        .describe("Only lines with this text and their parents"),
      changes: z.boolean().default(false).describe("Since the last answer"),
      max_bytes: z.int().min(256).max(MAX_ANSWER_BYTES).default(ANSWER_BYTES),
      cursor: z.string().min(1).max(MAX_CURSOR_CHARS).optional(),
      profile: PageProfile,
    }),
    output: Output,
    errors: PAGE_ERRORS,
    examples: [
      { title: "Buttons, links and fields only", input: { interactive: true }, fails: "NOT_FOUND" },
      { title: "One part of the page", input: { target: "main", depth: 3 }, fails: "NOT_FOUND" },
      { title: "Where a text is", input: { find: "total" }, fails: "NOT_FOUND" },
    ],
    async run({ target, depth = 0, interactive, find, changes, max_bytes: maxBytes, profile }, ctx) {
      const budget = maxBytes <= ANSWER_BYTES ? Math.max(256, maxBytes - ANSWER_MARGIN_BYTES) : maxBytes;
      const position = ctx.resume(Position);
      if (position) {
        ctx.backend("browser");
        const { hash, offset, url, title } = position;
        const text = options.workspace.blobs.get(hash as Hash).toString();
        const { page, next } = cutAt(text, offset, budget);
        if (next !== undefined) ctx.more({ ...position, offset: next });
        return { url, title, text: page, complete: true, notice: UNTRUSTED };
      }
      const timeout = target === undefined ? WHOLE_PAGE_MS : undefined;
      return look(options, { profile, target, timeout }, ctx, async ({ tab, page, locator, waits }) => {
        if (target !== undefined) await locator.waitFor({ ...waits, state: "attached" });
        const head = {
          url: toShownUrl(page.url()),
          title: (await page.title()).slice(0, 200),
          notice: UNTRUSTED,
        };
        if (changes) {
          const { text, more } = await takeChanges(tab);
          return { ...head, text, complete: true, ...(more > 0 && { more_changes: more }) };
        }
        const root = target === undefined ? undefined : locator;
        const whole = await takeSnapshot(tab, { interactive, depth, root });
        const { complete } = whole;
        const text = find === undefined ? whole.text : linesWith(whole.text, find);
        const lines = text === "" ? 0 : text.split("\n").length;
        const { page: first, next } = cutAt(text, 0, budget);
        if (next === undefined) return { ...head, text, lines, complete };
        const hash = options.workspace.blobs.put(Buffer.from(text));
        ctx.more({ hash, offset: next, url: head.url, title: head.title });
        return { ...head, text: first, lines, complete, ref: toRef(hash) };
      });
    },
    text: ({ url, title, text, lines, complete, ref, more_changes: more }) => ({
      body: `${title ? `${title} ` : ""}<${url}>\n${text}`,
      notes: [
        lines !== undefined && ref !== undefined && `of ${lines} lines`,
        !complete && "the page is too large to be read whole; use target or depth",
        more !== undefined && `${more} more changed lines`,
        UNTRUSTED,
      ],
      handles: { ref },
    }),
  });

/** The lines that contain a text in any case, each below the elements that contain it. */
function linesWith(text: string, find: string): string {
  const wanted = find.toLowerCase();
  const lines = text.split("\n");
  const shown = new Set<number>();
  /** By level: the open element's line. */
  const above: number[] = [];
  for (const [at, line] of lines.entries()) {
    const level = (line.length - line.trimStart().length) / 2;
    above.splice(level, above.length, at);
    if (line.toLowerCase().includes(wanted)) for (const outer of above) shown.add(outer);
  }
  return lines.filter((_, at) => shown.has(at)).join("\n");
}

/** Whole lines from an offset, as many as fit; `next` is where the rest starts. */
function cutAt(text: string, offset: number, maxBytes: number): { page: string; next?: number } {
  let end = offset;
  let bytes = 0;
  while (end < text.length) {
    const newline = text.indexOf("\n", end);
    const stop = newline < 0 ? text.length : newline + 1;
    bytes += Buffer.byteLength(text.slice(end, stop));
    // A single line that is too long must still be returned.
    if (bytes > maxBytes && end > offset) return { page: text.slice(offset, end).trimEnd(), next: end };
    end = stop;
  }
  return { page: text.slice(offset).trimEnd() };
}
