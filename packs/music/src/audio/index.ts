import { action, type BinaryPart, type Context, defineTool } from "@octant/core";
import { z } from "zod";
import { isolate, isolateStream } from "../isolate/isolate.ts";
import { MAKE, MAKE_ERRORS } from "../library/kinds.ts";
import { type Library, Made, renamed, Save, Source } from "../library/library.ts";
import { MAX_MIDI_BYTES } from "../midi/read-midi.ts";
import type { RenderInput } from "../midi/render.ts";
import type { Soundfonts } from "../soundfont/index.ts";
import { encodeWavHeader, MAX_WAV_BYTES, WAV_HEADER_BYTES } from "./wav.ts";

const RATES = [22_050, 44_100, 48_000] as const;
const CHANNELS = 2;
const FRAME_BYTES = CHANNELS * 2;
const EXAMPLE_ARTIFACT = "artifact_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";

export const audio = (library: Library, soundfonts: Soundfonts) =>
  defineTool({
    name: "audio",
    summary: "Sound: play MIDI into a WAV file, and measure one.",
    actions: {
      midi_to_wav: action({
        ...MAKE,
        timing: "async_medium",
        summary: "Play a MIDI file with a soundfont and store the sound as a WAV artifact.",
        input: z.strictObject({
          source: Source,
          soundfont: Source.optional().describe(
            "Default: the soundfont of the settings, or the built-in sounds",
          ),
          sample_rate: z.literal(RATES).default(44_100),
          tail: z
            .number()
            .min(0)
            .max(30)
            .default(1)
            .describe("Seconds after the last event, for notes that fade"),
          save: Save,
        }),
        output: z.object({ artifact: Made, seconds: z.number(), soundfont: z.string() }),
        errors: [...MAKE_ERRORS, "UNSUPPORTED"],
        examples: [{ title: "A stored tune", input: { source: EXAMPLE_ARTIFACT }, fails: "NOT_FOUND" }],
        async run({ source, soundfont, sample_rate: rate, tail, save }, ctx) {
          const midi = await library.load(source, MAX_MIDI_BYTES, ctx);
          const sounds = await soundfonts.load(soundfont, ctx);
          const wav = await openRendering({ midi: midi.bytes, soundfont: sounds, rate, tail }, ctx);
          const name = renamed(midi.name, "wav");
          const { parents } = midi;
          const result = { name, mime: "audio/wav", tags: ["type:audio"], parents, save };
          const artifact = await library.keep(result, wav.part, ctx);
          return {
            artifact,
            seconds: wav.seconds,
            soundfont: soundfont ?? (sounds ? "settings" : "built-in"),
          };
        },
      }),
      analyze: action({
        ...MAKE,
        summary: "Measure a WAV file: length, loudness and pitch classes, with a picture of its spectrum.",
        input: z.strictObject({
          source: Source,
          save: Save.describe("Also write the picture to this new file"),
        }),
        output: z.object({
          seconds: z.number(),
          sample_rate: z.int(),
          channels: z.int(),
          rms: z.number().describe("0 to 1"),
          peak: z.number().describe("0 to 1"),
          pitch_classes: z
            .array(z.object({ name: z.string(), share: z.number() }))
            .describe("Share of the sound, strongest first"),
          picture: Made.describe(
            "PNG: time to the right, octaves from 55 Hz upwards, a dotted line for every C",
          ),
        }),
        errors: MAKE_ERRORS,
        examples: [{ title: "A stored sound", input: { source: EXAMPLE_ARTIFACT }, fails: "NOT_FOUND" }],
        async run({ source, save }, ctx) {
          const sound = await library.load(source, MAX_WAV_BYTES, ctx);
          const { picture, ...measured } = await isolate("analyze", sound.bytes, ctx.signal);
          const { parents } = sound;
          const tags = ["type:spectrum"];
          const result = { name: renamed(sound.name, "png"), mime: "image/png", tags, parents, save };
          ctx.attach({ kind: "image", mime: "image/png", bytes: picture });
          return { ...measured, picture: await library.keep(result, picture, ctx) };
        },
      }),
    },
  });

/** Rendering starts here and continues as fast as the store takes it, so a long piece never is in memory as a whole. */
async function openRendering(input: RenderInput, ctx: Context) {
  const parts = isolateStream("render", input, ctx.signal);
  const { value: frames } = await parts.next();
  // renderMidi yields the number of frames before anything else.
  if (typeof frames !== "number") throw new Error("the rendering has no length");
  const seconds = frames / input.rate;
  const part: BinaryPart = {
    mime: "audio/wav",
    size: WAV_HEADER_BYTES + frames * FRAME_BYTES,
    async *read() {
      yield encodeWavHeader(frames, input.rate, CHANNELS);
      let done = 0;
      for await (const bytes of parts) {
        if (typeof bytes === "number") continue;
        yield bytes;
        done += bytes.length / FRAME_BYTES;
        ctx.progress({ progress: done / input.rate, total: seconds, message: "seconds of sound" });
      }
    },
  };
  return { seconds, part };
}
