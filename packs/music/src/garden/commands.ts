import { action, type Context, defineTool, ToolError } from "@octant/core";
import { z } from "zod";
import { tooLarge } from "../malformed.ts";
import type { createQueue } from "./queue.ts";
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
import { type RegionStore, regionsBetween } from "./store.ts";
import type { Transport } from "./transport.ts";

export interface GardenParts {
  readonly store: RegionStore;
  readonly transport: Transport;
  readonly queue: ReturnType<typeof createQueue>;
  /** The process may end when nothing plays. */
  rest(): void;
}

const READ = { access: "read", timing: "sync", intent: "inspect", errors: ["NOT_FOUND"] } as const;
const CHANGE = {
  access: "write",
  timing: "sync",
  intent: "apply",
  errors: ["NOT_FOUND", "TOO_LARGE", "UNSUPPORTED", "CANCELLED"],
} as const;
const REGION = "region_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";
const nothing = z.strictObject({});

/** The tool that the garden's process serves over HOOT01; garden/index.ts is its face in Octant. */
export function gardenCommands({ store, transport, queue, rest }: GardenParts) {
  const status = (): State => ({ ...transport.status(), queued: queue.size, pid: process.pid });
  const queued = <T>(work: () => Promise<T> | T) => queue.run(work);
  const afterwards = (work: () => void) =>
    queued(() => {
      work();
      return status();
    });
  const command = (summary: string, run: () => void) =>
    action({
      ...CHANGE,
      summary,
      input: nothing,
      output: State,
      examples: [{ title: "Once", input: {} }],
      run: () => afterwards(run),
    });
  return defineTool({
    name: "garden",
    summary: "The transport and its regions.",
    actions: {
      status: action({
        ...READ,
        summary: "Show the state.",
        input: nothing,
        output: State,
        examples: [{ title: "Now", input: {} }],
        run: status,
      }),
      play: action({
        ...CHANGE,
        summary: "Play from the position.",
        input: z.strictObject({ output: Output }),
        output: z.object({ play_id: PlayId }),
        examples: [{ title: "To a file", input: { output: "file" }, fails: "NOT_FOUND" }],
        run: ({ output }) => queued(() => transport.play(output)),
      }),
      follow: action({
        ...READ,
        summary: "Wait until a playback ends, with its position as progress.",
        input: z.strictObject({ play_id: PlayId }),
        output: Ended,
        examples: [
          { title: "A playback", input: { play_id: REGION.replace("region", "play") }, fails: "NOT_FOUND" },
        ],
        run: ({ play_id }, ctx) => follow(transport, play_id, ctx),
      }),
      pause: command("Pause.", transport.pause),
      stop: command("Stop and return to the beginning.", transport.stop),
      seek: action({
        ...CHANGE,
        summary: "Go to a beat.",
        input: z.strictObject({ beat: Beat }),
        output: State,
        examples: [{ title: "The fifth beat", input: { beat: 4 } }],
        run: ({ beat }) => afterwards(() => transport.seek(beat)),
      }),
      set_tempo: action({
        ...CHANGE,
        summary: "Set the tempo.",
        input: z.strictObject({ bpm: Bpm }),
        output: State,
        examples: [{ title: "Slow", input: { bpm: 60 } }],
        run: ({ bpm }) => afterwards(() => transport.setBpm(bpm)),
      }),
      emergency_pause: action({
        ...CHANGE,
        summary: "Pause now and drop all commands that wait.",
        input: nothing,
        output: State.extend({ dropped: z.int() }),
        examples: [{ title: "Now", input: {} }],
        run() {
          transport.pause();
          return { dropped: queue.clear(), ...status() };
        },
      }),
      get_regions: action({
        ...READ,
        summary: "List regions.",
        input: z.strictObject({ start: Beat.optional(), end: Beat.optional() }),
        output: z.object({ regions: z.array(Region) }),
        examples: [{ title: "All", input: {} }],
        run({ start = 0, end = Number.POSITIVE_INFINITY }) {
          const all = transport.regions();
          const isAll = start === 0 && end === Number.POSITIVE_INFINITY;
          return { regions: isAll ? [...all] : regionsBetween(all, start, end, transport.status().bpm) };
        },
      }),
      create_region: action({
        ...CHANGE,
        summary: "Add a region; its WAV file comes as bytes beside the call.",
        input: z.strictObject({ beat: Beat, gain: Gain, name: z.string().max(256) }),
        output: z.object({ region: Region }),
        examples: [{ title: "Without a sound", input: { beat: 0, name: "x" }, fails: "NOT_FOUND" }],
        run: ({ beat, gain, name }, ctx) =>
          queued(async () => {
            const bytes = await readUpload(ctx);
            const region = store.add({ beat, gain, name, bytes });
            transport.changed();
            return { region };
          }),
      }),
      move_region: action({
        ...CHANGE,
        summary: "Move a region.",
        input: z.strictObject({ region_id: RegionId, beat: Beat }),
        output: z.object({ region: Region }),
        examples: [{ title: "To the beginning", input: { region_id: REGION, beat: 0 }, fails: "NOT_FOUND" }],
        run: ({ region_id, beat }) =>
          queued(() => {
            const region = store.move(region_id, beat);
            transport.changed();
            return { region };
          }),
      }),
      delete_region: action({
        ...CHANGE,
        destructive: true,
        summary: "Delete a region.",
        input: z.strictObject({ region_id: RegionId }),
        output: z.object({ region_id: RegionId }),
        examples: [{ title: "One", input: { region_id: REGION }, fails: "NOT_FOUND" }],
        run: ({ region_id }) =>
          queued(() => {
            store.remove(region_id);
            transport.changed();
            return { region_id };
          }),
      }),
      rest: action({
        ...CHANGE,
        summary: "The caller is done: end when nothing plays.",
        input: nothing,
        output: nothing,
        examples: [{ title: "Once", input: {} }],
        run() {
          rest();
          return {};
        },
      }),
    },
  });
}

const FOLLOW_MS = 100;

async function follow(transport: Transport, play_id: string, { signal, progress }: Context): Promise<Ended> {
  const ended = transport.follow(play_id);
  if (!ended) throw new ToolError("NOT_FOUND", `playback ${play_id} is not running`, { id: play_id });
  const timer = setInterval(() => progress({ progress: transport.status().seconds }), FOLLOW_MS);
  const cancelled = Promise.withResolvers<never>();
  const cancel = () => cancelled.reject(signal.reason);
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await Promise.race([ended, cancelled.promise]);
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", cancel);
  }
}

async function readUpload({ upload }: Context): Promise<Uint8Array> {
  if (!upload) throw new ToolError("NOT_FOUND", "the call brings no sound", {});
  if (upload.size > MAX_SOUND_BYTES) throw tooLarge("the sound", MAX_SOUND_BYTES, upload.size);
  return Buffer.concat(await Array.fromAsync(upload.read()));
}
