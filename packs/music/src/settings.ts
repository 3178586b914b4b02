import { z } from "zod";

const Service = z.url({ protocol: /^https?$/ }).optional();

/** `packs.music.settings` of the user's settings. */
export const settings = z.strictObject({
  soundfont: z
    .string()
    .min(1)
    .optional()
    .describe("Path of an SF2 or SF3 file; default: the built-in sounds"),
  orpheus: Service.describe("Address of the Orpheus service"),
  musicgen: Service.describe("Address of the MusicGen service"),
  yue: Service.describe("Address of the YuE service"),
  clap: Service.describe("Address of the CLAP service"),
  beatthis: Service.describe("Address of the Beat This service"),
});
export type Settings = typeof settings;
