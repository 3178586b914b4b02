import { readFile, stat } from "node:fs/promises";
import { action, type Context, defineTool, pagingInput, ToolError } from "@octant/core";
import { z } from "zod";
import { isolate } from "../isolate/isolate.ts";
import { INSPECT, SOURCE_ERRORS } from "../library/kinds.ts";
import { type Library, Source } from "../library/library.ts";
import { tooLarge } from "../malformed.ts";
import { MAX_SOUNDFONT_BYTES } from "./limits.ts";

export type Soundfonts = ReturnType<typeof createSoundfonts>;

/** Finds the sounds for a call: those it names, the person's own, or the built-in ones. */
export function createSoundfonts(library: Library, path: string | undefined) {
  return {
    /** undefined for the built-in ones. */
    async load(source: string | undefined, ctx: Context): Promise<Uint8Array | undefined> {
      if (source !== undefined) return (await library.load(source, MAX_SOUNDFONT_BYTES, ctx)).bytes;
      if (path === undefined) return undefined;
      try {
        const { size } = await stat(path);
        if (size > MAX_SOUNDFONT_BYTES) throw tooLarge("the soundfont", MAX_SOUNDFONT_BYTES, size);
        return await readFile(path, { signal: ctx.signal });
      } catch (cause) {
        if (cause instanceof ToolError || ctx.signal.aborted) throw cause;
        const what = "packs.music.settings.soundfont";
        const how = "set it to an SF2 or SF3 file that exists, or remove it to use the built-in sounds";
        throw new ToolError("UNSUPPORTED", `cannot read ${path}; ${what}: ${how}`, { what, how });
      }
    },
  };
}

const soundfontInput = {
  source: Source.optional().describe("Default: the soundfont of the settings, or the built-in"),
};
const Preset = z.object({
  bank: z.int().describe("128: drums"),
  program: z.int(),
  name: z.string(),
  is_drum: z.boolean(),
});
const Range = z.tuple([z.int(), z.int()]);

export const soundfont = (soundfonts: Soundfonts) =>
  defineTool({
    name: "soundfont",
    summary: "The instruments of a soundfont.",
    actions: {
      inspect: action({
        ...INSPECT,
        summary: "List the presets of a soundfont.",
        input: z.strictObject({ ...soundfontInput, ...pagingInput(200, 1_000) }),
        output: z.object({
          name: z.string(),
          bytes: z.int(),
          instruments: z.int(),
          samples: z.int(),
          presets: z.array(Preset),
        }),
        errors: [...SOURCE_ERRORS, "UNSUPPORTED", "INVALID_CURSOR"],
        examples: [{ title: "The default sounds", input: {} }],
        async run({ source, limit }, ctx) {
          const from = ctx.resume(z.int()) ?? 0;
          const found = await isolate("soundfont", await soundfonts.load(source, ctx), ctx.signal);
          if (from + limit < found.presets.length) ctx.more(from + limit);
          return { ...found, presets: found.presets.slice(from, from + limit) };
        },
      }),
      preset_inspect: action({
        ...INSPECT,
        summary: "Show the zones of a preset: keys, velocities and samples.",
        input: z.strictObject({
          ...soundfontInput,
          bank: z.int().min(0).max(128).default(0),
          program: z.int().min(0).max(127),
        }),
        output: Preset.extend({
          zones: z.array(
            z.object({
              instrument: z.string(),
              sample: z.string(),
              keys: Range,
              velocities: Range,
              root_key: z.int(),
              sample_rate: z.int(),
              loops: z.boolean(),
            }),
          ),
        }),
        errors: [...SOURCE_ERRORS, "UNSUPPORTED"],
        examples: [{ title: "The piano", input: { program: 0 } }],
        async run({ source, bank, program }, ctx) {
          const bytes = await soundfonts.load(source, ctx);
          return isolate("preset", { bytes, bank, program }, ctx.signal);
        },
      }),
    },
  });
