import { handle } from "@octant/core";
import { z } from "zod";

/** Sounds of any rate are mixed at this one. */
export const RATE = 44_100;
export const MAX_SOUND_BYTES = 64 * 1024 * 1024;

export const RegionId = handle("region");
export const PlayId = handle("play");
export const Beat = z.number().min(0).max(1_000_000).describe("Beats from the beginning");
export const Bpm = z.number().min(10).max(999).describe("Beats per minute");
export const Gain = z.number().min(0).max(4).default(1);
export const Output = z.enum(["file", "device"]);
export type Output = z.output<typeof Output>;

/** A sound at a place of the timeline. The tempo moves its beginning and never stretches it. */
export const Region = z.object({
  region_id: RegionId,
  name: z.string(),
  beat: z.number(),
  seconds: z.number().describe("Length of the sound"),
  gain: z.number(),
  sound: z.string().describe("Hash of the WAV file"),
});
export type Region = z.output<typeof Region>;

export const State = z.object({
  state: z.enum(["stopped", "playing", "paused"]),
  beat: z.number(),
  seconds: z.number(),
  bpm: z.number(),
  regions: z.int(),
  queued: z.int().describe("Commands that wait"),
  play_id: PlayId.optional(),
  pid: z.int(),
});
export type State = z.output<typeof State>;

/** How a playback ended. */
export const Ended = z.object({
  ended: z.enum(["complete", "stopped", "paused"]),
  seconds: z.number().describe("Length of what was played"),
  file: z.string().optional(),
});
export type Ended = z.output<typeof Ended>;
