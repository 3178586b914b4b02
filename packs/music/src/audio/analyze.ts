import { drawSpectrum, frameAround, toMono } from "./picture.ts";
import { findPitches, PITCH_CLASSES } from "./pitches.ts";
import { readWav } from "./wav.ts";

const FRAME = 8_192;
/** Frames of a long sound are further apart. */
const MAX_FRAMES = 2_000;

export interface Analysis {
  readonly seconds: number;
  readonly sample_rate: number;
  readonly channels: number;
  readonly rms: number;
  readonly peak: number;
  readonly pitch_classes: { readonly name: string; readonly share: number }[];
  readonly picture: Uint8Array;
}

export function analyze(bytes: Uint8Array): Analysis {
  const sound = readWav(bytes);
  const mono = toMono(sound);
  let square = 0;
  let peak = 0;
  for (const channel of sound.channels)
    for (const sample of channel) {
      square += sample * sample;
      peak = Math.max(peak, Math.abs(sample));
    }
  return {
    seconds: mono.length / sound.rate,
    sample_rate: sound.rate,
    channels: sound.channels.length,
    rms: Math.sqrt(square / Math.max(1, mono.length * sound.channels.length)),
    peak,
    pitch_classes: toPitchClasses(mono, sound.rate),
    picture: drawSpectrum(sound),
  };
}

/** How much of the sound each pitch class makes up, strongest first. */
function toPitchClasses(mono: Float32Array, rate: number): Analysis["pitch_classes"] {
  const strengths = new Float64Array(PITCH_CLASSES.length);
  const step = Math.max(FRAME / 2, Math.ceil(mono.length / MAX_FRAMES));
  for (let middle = FRAME / 2; middle < mono.length; middle += step)
    for (const { pitch, strength } of findPitches(frameAround(mono, middle, FRAME), rate))
      strengths[pitch % PITCH_CLASSES.length]! += strength;
  const total = strengths.reduce((sum, one) => sum + one, 0);
  return PITCH_CLASSES.map((name, n) => ({ name, share: total > 0 ? (strengths[n] ?? 0) / total : 0 }))
    .filter(({ share }) => share >= 0.005)
    .sort((a, b) => b.share - a.share);
}
