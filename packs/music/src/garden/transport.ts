import { type JobEvent, newHandle, ToolError, type Topic } from "@octant/core";
import { createMixer } from "./mixer.ts";
import type { Sink } from "./output.ts";
import { type Ended, type Output, RATE, type State } from "./schemas.ts";
import type { RegionStore } from "./store.ts";

export interface TransportOptions {
  readonly store: RegionStore;
  /** Milliseconds that never go back. */
  now(): number;
  openSink(output: Output, play_id: string): Sink;
  /** Position and completion of every playback, as the events of a job with its id. */
  readonly events: Topic<JobEvent>;
  readonly owner: string;
}

interface Playback {
  readonly play_id: string;
  readonly sink: Sink;
  startedAt: number;
  /** Frames since `startedAt`, and since the beginning. */
  frames: number;
  total: number;
  toldAt: number;
  readonly ended: PromiseWithResolvers<Ended>;
}

/** How much is mixed ahead of the clock, so that a late tick is not heard. */
const LEAD_MS = 20;
const TELL_MS = 100;
const MAX_BLOCK_FRAMES = RATE;

export type Transport = ReturnType<typeof createTransport>;

/** Play, pause, stop, seek and tempo of the timeline. `tick` is called by a timer while it plays. */
export function createTransport(options: TransportOptions) {
  const { store, now, events, owner } = options;
  let regions = store.all();
  const mixer = createMixer({ regions: () => regions, soundOf: store.soundOf });
  mixer.setBpm(store.bpm() ?? mixer.bpm);
  let state: State["state"] = "stopped";
  let playback: Playback | undefined;

  const tell = (job_id: string, event: Pick<JobEvent, "type"> & Partial<JobEvent>) =>
    // The rest of the event is what each type asks for.
    events.publish({ job_id, owner, ...event } as JobEvent);
  const tellPosition = (one: Playback) => {
    one.toldAt = one.total;
    const chunk = {
      kind: "progress",
      progress: mixer.seconds,
      message: `beat ${mixer.beat.toFixed(2)}`,
    } as const;
    tell(one.play_id, { type: "chunk", chunk });
  };

  function tick(): void {
    if (!playback) return;
    const due = Math.floor(((now() - playback.startedAt + LEAD_MS) * RATE) / 1_000);
    while (playback && playback.frames < due) {
      const frames = Math.min(MAX_BLOCK_FRAMES, due - playback.frames);
      playback.sink.write(mixer.mix(frames), frames);
      playback.frames += frames;
      playback.total += frames;
      if (playback.total - playback.toldAt >= (TELL_MS * RATE) / 1_000) tellPosition(playback);
      if (mixer.isOver) end("complete");
    }
  }

  function end(how: Ended["ended"]): void {
    const one = playback;
    state = how === "paused" ? "paused" : "stopped";
    if (how !== "paused") mixer.seek(0);
    if (!one) return;
    playback = undefined;
    one.sink.close();
    const { file } = one.sink;
    tell(one.play_id, { type: "end", state: how === "complete" ? "complete" : "cancelled" });
    one.ended.resolve({ ended: how, seconds: one.total / RATE, ...(file && { file }) });
  }

  return {
    tick,
    get isPlaying() {
      return playback !== undefined;
    },
    status: (): Omit<State, "queued" | "pid"> => ({
      state,
      beat: mixer.beat,
      seconds: mixer.seconds,
      bpm: mixer.bpm,
      regions: regions.length,
      ...(playback && { play_id: playback.play_id }),
    }),
    regions: () => regions,
    /** The first frames are mixed before it returns. A running playback continues. */
    play(output: Output): { readonly play_id: string } {
      if (playback) return { play_id: playback.play_id };
      if (regions.length === 0)
        throw new ToolError("NOT_FOUND", "there is nothing to play; garden.create_region adds a sound", {});
      if (mixer.isOver) mixer.seek(0);
      else mixer.seek(mixer.beat);
      const play_id = newHandle("play", Date.now());
      const sink = options.openSink(output, play_id);
      const ended = Promise.withResolvers<Ended>();
      playback = { play_id, sink, startedAt: now(), frames: 0, total: 0, toldAt: 0, ended };
      state = "playing";
      tell(play_id, { type: "start" });
      tick();
      return { play_id };
    },
    /** How the playback ends; undefined when it is not running. */
    follow: (play_id: string): Promise<Ended> | undefined =>
      playback?.play_id === play_id ? playback.ended.promise : undefined,
    pause: () => (playback ? end("paused") : undefined),
    stop: () => end("stopped"),
    seek: (beat: number) => mixer.seek(beat),
    setBpm(bpm: number) {
      store.setBpm(bpm);
      mixer.setBpm(bpm);
    },
    /** After a change of the store. */
    changed() {
      regions = store.all();
      mixer.changed();
    },
  };
}
