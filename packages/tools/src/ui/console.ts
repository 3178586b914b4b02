import { action, counted, pagingInput } from "@octant/core";
import { UNTRUSTED } from "@octant/host";
import { z } from "zod";
import { findProfile, type UiOptions } from "./acting.ts";
import { PageProfile } from "./inputs.ts";

const LEVELS = ["error", "warning", "info", "debug"] as const;
/** The severity of a Chromium level; lower is more severe. */
const rankOf = (level: string): number => RANKS.get(level) ?? LEVELS.indexOf("info");
const RANKS: ReadonlyMap<string, number> = new Map(LEVELS.map((level, rank) => [level, rank]));

export const console = (options: UiOptions) =>
  action({
    summary: "List the latest console messages and uncaught errors of a profile's pages.",
    listing: "brief",
    access: "read",
    timing: "sync",
    intent: "inspect",
    input: z.strictObject({
      level: z.enum(LEVELS).default("info"),
      profile: PageProfile,
      ...pagingInput(50, 500),
    }),
    output: z.object({
      entries: z.array(
        z.object({ tab: z.string(), level: z.string(), text: z.string(), at: z.string().optional() }),
      ),
      dropped: z.int().optional().describe("Older messages that were dropped"),
      notice: z.string(),
    }),
    errors: ["NOT_FOUND"],
    examples: [{ title: "Errors only", input: { level: "error" }, fails: "NOT_FOUND" }],
    run({ level, limit, profile }, ctx) {
      const before = ctx.resume(z.int()) ?? Number.POSITIVE_INFINITY;
      const activity = findProfile(options, profile, ctx).activity;
      const found = activity.console.filter(
        (entry) => entry.number < before && rankOf(entry.level) <= rankOf(level),
      );
      const dropped = activity.droppedConsole;
      const page = found.slice(-limit);
      if (found.length > limit) ctx.more(page[0]?.number);
      return {
        entries: page.map(({ number: _number, ...entry }) => entry),
        ...(dropped > 0 && { dropped }),
        notice: UNTRUSTED,
      };
    },
    text: ({ entries, dropped = 0 }) => ({
      body:
        entries.map(({ level, text, at }) => `${level}: ${text}${at ? ` (${at})` : ""}`).join("\n") ||
        "nothing was logged",
      notes: [dropped > 0 && `${counted(dropped, "older message")} dropped`, UNTRUSTED],
    }),
  });
