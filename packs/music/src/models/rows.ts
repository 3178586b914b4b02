import { z } from "zod";
import { Source } from "../library/library.ts";

const Temperature = z.number().min(0.01).max(2).default(1);
const TopP = z.number().min(0).max(1).default(0.95);
const sampling = {
  temperature: Temperature,
  top_p: TopP,
  max_tokens: z.int().min(1).max(8_192).default(1_024),
  variations: z.int().min(1).max(8).default(1).describe("How many pieces to make"),
};
const Labels = z.array(z.object({ label: z.string(), score: z.number() }));

/** An action of a model service: what it takes, which of that is music to send along, and what comes back. */
export interface Row {
  readonly summary: string;
  readonly input: z.ZodRawShape;
  /** The parameters that name music; the service gets its bytes as base64. */
  readonly sources: Readonly<Record<string, "midi" | "audio">>;
  /** Music that becomes artifacts, or the shape of a finding. */
  readonly result: "midi" | "audio" | z.ZodObject;
  readonly example: Record<string, unknown>;
}

const EXAMPLE = "artifact_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";

/** Every action of every model service. */
export const SERVICES: Readonly<Record<string, { summary: string; actions: Readonly<Record<string, Row>> }>> =
  {
    orpheus: {
      summary: "MIDI from the Orpheus music transformer.",
      actions: {
        generate: {
          summary: "Make a new piece of MIDI.",
          input: sampling,
          sources: {},
          result: "midi",
          example: {},
        },
        generate_seeded: {
          summary: "Make a piece of MIDI in the manner of another one.",
          input: { seed: Source, ...sampling },
          sources: { seed: "midi" },
          result: "midi",
          example: { seed: EXAMPLE },
        },
        continue: {
          summary: "Continue a piece of MIDI.",
          input: { midi: Source, ...sampling },
          sources: { midi: "midi" },
          result: "midi",
          example: { midi: EXAMPLE },
        },
        bridge: {
          summary: "Make a transition from one section to another.",
          input: { section_a: Source, section_b: Source.optional(), ...sampling },
          sources: { section_a: "midi", section_b: "midi" },
          result: "midi",
          example: { section_a: EXAMPLE },
        },
        loops: {
          summary: "Make loops with several instruments.",
          input: { seed: Source.optional(), ...sampling },
          sources: { seed: "midi" },
          result: "midi",
          example: {},
        },
        classify: {
          summary: "Estimate whether a person or a model wrote a piece of MIDI.",
          input: { midi: Source },
          sources: { midi: "midi" },
          result: z.object({
            classifications: z.array(z.object({ label: z.string(), confidence: z.number() })),
          }),
          example: { midi: EXAMPLE },
        },
      },
    },
    musicgen: {
      summary: "Sound from a description, by MusicGen.",
      actions: {
        generate: {
          summary: "Make sound from a description.",
          input: {
            prompt: z.string().min(1).max(4_096),
            duration: z.number().min(0.5).max(120).default(8).describe("Seconds"),
            temperature: Temperature,
            top_k: z.int().min(0).max(10_000).default(250),
            top_p: z.number().min(0).max(1).default(0),
            guidance_scale: z.number().min(0).max(20).default(3),
          },
          sources: {},
          result: "audio",
          example: { prompt: "slow piano in the rain" },
        },
      },
    },
    yue: {
      summary: "Songs from lyrics, by YuE.",
      actions: {
        generate: {
          summary: "Make a song with vocals from lyrics.",
          input: {
            lyrics: z.string().min(1).max(16_384),
            genre: z.string().min(1).max(256).default("pop"),
            max_new_tokens: z.int().min(1).max(20_000).default(3_000),
            run_n_segments: z.int().min(1).max(16).default(2),
            seed: z.int().min(0).default(0),
          },
          sources: {},
          result: "audio",
          example: { lyrics: "[verse]\nThe lamp is low\n", genre: "folk" },
        },
      },
    },
    clap: {
      summary: "What a sound is like, by CLAP.",
      actions: {
        analyze: {
          summary: "Describe a sound: labels, similarity to another one, or embeddings.",
          input: {
            audio: Source,
            other: Source.optional().describe("The sound to compare with"),
            tasks: z
              .array(z.enum(["embeddings", "zero_shot", "similarity", "genre", "mood"]))
              .min(1)
              .default(["genre"]),
            text_candidates: z
              .array(z.string().min(1).max(256))
              .max(64)
              .default([])
              .describe("Labels for zero_shot"),
          },
          sources: { audio: "audio", other: "audio" },
          result: z.object({
            embeddings: z.array(z.number()).optional(),
            zero_shot: Labels.optional(),
            similarity: z.number().optional(),
            genre: Labels.optional(),
            mood: Labels.optional(),
          }),
          example: { audio: EXAMPLE },
        },
      },
    },
    beatthis: {
      summary: "Beats of a sound, by Beat This.",
      actions: {
        analyze: {
          summary: "Find the beats, the downbeats and the tempo of a sound.",
          input: { audio: Source },
          sources: { audio: "audio" },
          result: z.object({
            beats: z.array(z.number()).describe("Seconds"),
            downbeats: z.array(z.number()).describe("Seconds"),
            bpm: z.number(),
          }),
          example: { audio: EXAMPLE },
        },
      },
    },
  };
