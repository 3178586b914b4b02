import { readFile, rm } from "node:fs/promises";
import { action, type Context, defineTool } from "@octant/core";
import { z } from "zod";
import { MAKE_ERRORS } from "../library/kinds.ts";
import { type Library, Made, Source } from "../library/library.ts";
import type { GardenProcess } from "./process.ts";
import {
  Beat,
  Bpm,
  Ended,
  Gain,
  MAX_SOUND_BYTES,
  Output,
  PlayId,
  Region,
  RegionId,
  State,
} from "./schemas.ts";

const GARDEN_ERRORS = ["NOT_FOUND", "EXEC_FAILED", "INTERRUPTED", "CANCELLED"] as const;
const READ = { access: "read", timing: "sync", intent: "inspect", errors: GARDEN_ERRORS } as const;
const COMMAND = {
  access: "write",
  timing: "fire_and_forget",
  intent: "apply",
  errors: [...GARDEN_ERRORS, "UNSUPPORTED"],
} as const;
const REGION = "region_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";
const ARTIFACT = "artifact_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";
const nothing = z.strictObject({});

/** The transport, as Octant's callers see it: commands are jobs, and a playback is one until it ends. */
export const garden = (library: Library, process: GardenProcess) => {
  const ask = async <S extends z.ZodType>(output: S, name: string, input: object, ctx: Context) =>
    output.parse(await process.call(name, input, ctx));
  const command = (summary: string, name: string) =>
    action({
      ...COMMAND,
      summary,
      input: nothing,
      output: State,
      examples: [{ title: "Now", input: {} }],
      run: (_, ctx) => ask(State, name, {}, ctx),
    });
  return defineTool({
    name: "garden",
    summary: "A timeline of sounds that plays in a process of its own.",
    actions: {
      status: action({
        ...READ,
        summary: "Show whether it plays, where, and how fast.",
        input: nothing,
        output: State,
        examples: [{ title: "Now", input: {} }],
        run: (_, ctx) => ask(State, "status", {}, ctx),
      }),
      play: action({
        ...COMMAND,
        summary:
          "Play from the position, to a WAV artifact or to the sound device; the job lasts as long as the music.",
        input: z.strictObject({ output: Output.default("file") }),
        output: Ended.omit({ file: true }).extend({ play_id: PlayId, artifact: Made.optional() }),
        errors: [...COMMAND.errors, ...MAKE_ERRORS],
        examples: [{ title: "Nothing is there yet", input: {}, fails: "NOT_FOUND" }],
        async run({ output }, ctx) {
          const { play_id } = await ask(z.object({ play_id: PlayId }), "play", { output }, ctx);
          const { file, ...ended } = await follow(process, play_id, ctx);
          if (file === undefined) return { play_id, ...ended };
          const result = {
            name: "garden.wav",
            mime: "audio/wav",
            tags: ["type:audio", "type:mix"],
            parents: [],
          };
          const artifact = await library.keep(result, await readFile(file), ctx);
          await rm(file, { force: true });
          return { play_id, ...ended, artifact };
        },
      }),
      pause: command("Pause at the position.", "pause"),
      stop: command("Stop and return to the beginning.", "stop"),
      seek: action({
        ...COMMAND,
        summary: "Go to a beat.",
        input: z.strictObject({ beat: Beat }),
        output: State,
        examples: [{ title: "The fifth beat", input: { beat: 4 } }],
        run: (input, ctx) => ask(State, "seek", input, ctx),
      }),
      set_tempo: action({
        ...COMMAND,
        summary: "Set the tempo, which moves the beginnings of regions and never stretches a sound.",
        input: z.strictObject({ bpm: Bpm }),
        output: State,
        examples: [{ title: "Slow", input: { bpm: 60 } }],
        run: (input, ctx) => ask(State, "set_tempo", input, ctx),
      }),
      emergency_pause: action({
        ...COMMAND,
        timing: "sync",
        summary: "Pause at once, before all commands that wait, and drop those.",
        input: nothing,
        output: State.extend({ dropped: z.int().describe("Commands that never ran") }),
        examples: [{ title: "Now", input: {} }],
        run: (_, ctx) => ask(State.extend({ dropped: z.int() }), "emergency_pause", {}, ctx),
      }),
      get_regions: action({
        ...READ,
        summary: "List the regions, or those that sound between two beats.",
        input: z.strictObject({ start: Beat.optional(), end: Beat.optional() }),
        output: z.object({ regions: z.array(Region) }),
        examples: [{ title: "All", input: {} }],
        run: (input, ctx) => ask(z.object({ regions: z.array(Region) }), "get_regions", input, ctx),
      }),
      create_region: action({
        ...COMMAND,
        summary: "Place a WAV file on the timeline.",
        input: z.strictObject({
          source: Source,
          beat: Beat,
          gain: Gain,
          name: z.string().min(1).max(256).optional(),
        }),
        output: z.object({ region: Region }),
        errors: [...COMMAND.errors, ...MAKE_ERRORS],
        examples: [{ title: "At the beginning", input: { source: ARTIFACT, beat: 0 }, fails: "NOT_FOUND" }],
        async run({ source, beat, gain, name }, ctx) {
          const sound = await library.load(source, MAX_SOUND_BYTES, ctx);
          const upload = { mime: "audio/wav", size: sound.bytes.length, read: () => piecesOf(sound.bytes) };
          const input = { beat, gain, name: name ?? sound.name };
          const made = await process.call("create_region", input, ctx, { upload });
          return z.object({ region: Region }).parse(made);
        },
      }),
      move_region: action({
        ...COMMAND,
        summary: "Move a region to another beat.",
        input: z.strictObject({ region_id: RegionId, beat: Beat }),
        output: z.object({ region: Region }),
        examples: [{ title: "To the beginning", input: { region_id: REGION, beat: 0 }, fails: "NOT_FOUND" }],
        run: (input, ctx) => ask(z.object({ region: Region }), "move_region", input, ctx),
      }),
      delete_region: action({
        ...COMMAND,
        destructive: true,
        summary: "Delete a region.",
        input: z.strictObject({ region_id: RegionId }),
        output: z.object({ region_id: RegionId }),
        examples: [{ title: "One of them", input: { region_id: REGION }, fails: "NOT_FOUND" }],
        run: (input, ctx) => ask(z.object({ region_id: RegionId }), "delete_region", input, ctx),
      }),
    },
  });
};

/** A cancelled job stops the music; a server that ends does not. */
async function follow(process: GardenProcess, play_id: string, ctx: Context): Promise<Ended> {
  try {
    const ended = await process.call("follow", { play_id }, ctx, { onProgress: ctx.progress });
    return Ended.parse(ended);
  } catch (cause) {
    if (ctx.signal.aborted) await process.call("stop", {}, { signal: new AbortController().signal });
    throw cause;
  }
}

const PIECE_BYTES = 16 * 1024;

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
