import type { Sound } from "../audio/wav.ts";
import { RATE, type Region } from "./schemas.ts";

interface Voice {
  readonly region: Region;
  /** The next frame of its sound. */
  offset: number;
}

/** Left and right, at the rate of the mixer. */
type Stereo = readonly [left: Float32Array, right: Float32Array];

interface MixerOptions {
  regions(): readonly Region[];
  soundOf(region: Region): Sound;
}

/** The timeline with its position. It has no clock: each call of `mix` is the next stretch of sound. */
export function createMixer({ regions, soundOf }: MixerOptions) {
  const sounds = new Map<string, Stereo>();
  let voices: Voice[] = [];
  let beat = 0;
  let bpm = 120;

  const beatsPerFrame = () => bpm / 60 / RATE;
  const stereoOf = (region: Region): Stereo => {
    const known = sounds.get(region.sound) ?? toStereo(soundOf(region));
    sounds.set(region.sound, known);
    return known;
  };
  /** Voices of the regions that the position is within. */
  const voicesHere = (): Voice[] =>
    regions()
      .filter((region) => region.beat < beat)
      .map((region) => ({ region, offset: Math.round((beat - region.beat) / beatsPerFrame()) }))
      .filter(({ region, offset }) => offset < region.seconds * RATE);

  function mix(frames: number): [left: Float32Array, right: Float32Array] {
    const out: [Float32Array, Float32Array] = [new Float32Array(frames), new Float32Array(frames)];
    const end = beat + frames * beatsPerFrame();
    for (const voice of voices) add(out, voice, 0);
    for (const region of regions()) {
      if (region.beat < beat || region.beat >= end) continue;
      const voice = { region, offset: 0 };
      add(out, voice, Math.min(frames, Math.round((region.beat - beat) / beatsPerFrame())));
      voices.push(voice);
    }
    voices = voices.filter(({ region, offset }) => offset < stereoOf(region)[0].length);
    beat = end;
    return out;
  }

  function add([left, right]: Stereo, voice: Voice, from: number): void {
    const [soundLeft, soundRight] = stereoOf(voice.region);
    const count = Math.min(left.length - from, soundLeft.length - voice.offset);
    for (let n = 0; n < count; n++) {
      left[from + n]! += soundLeft[voice.offset + n]! * voice.region.gain;
      right[from + n]! += soundRight[voice.offset + n]! * voice.region.gain;
    }
    voice.offset += Math.max(0, count);
  }

  return {
    mix,
    get beat() {
      return beat;
    },
    get seconds() {
      return (beat * 60) / bpm;
    },
    get bpm() {
      return bpm;
    },
    /** Nothing sounds any more, and nothing comes. */
    get isOver() {
      return voices.length === 0 && regions().every((region) => region.beat < beat);
    },
    seek(to: number): void {
      beat = to;
      voices = voicesHere();
    },
    setBpm(to: number): void {
      bpm = to;
    },
    /** A region was added, moved or removed: what sounds now follows. */
    changed(): void {
      const all = regions();
      const kept = voices.filter(({ region }) =>
        all.some((one) => one.region_id === region.region_id && one.beat === region.beat),
      );
      const known = new Set(kept.map(({ region }) => region.region_id));
      voices = [...kept, ...voicesHere().filter(({ region }) => !known.has(region.region_id))];
      const used = new Set(all.map(({ sound }) => sound));
      for (const hash of sounds.keys()) if (!used.has(hash)) sounds.delete(hash);
    },
  };
}

/** The first two channels at the rate of the mixer, interpolated. */
function toStereo({ rate, channels }: Sound): Stereo {
  const resample = (samples: Float32Array): Float32Array => {
    if (rate === RATE) return samples;
    return Float32Array.from({ length: Math.round((samples.length * RATE) / rate) }, (_, n) => {
      const at = (n * rate) / RATE;
      const low = Math.floor(at);
      const first = samples[low] ?? 0;
      return first + ((samples[low + 1] ?? first) - first) * (at - low);
    });
  };
  const left = resample(channels[0] ?? new Float32Array(0));
  return [left, channels[1] ? resample(channels[1]) : left];
}
