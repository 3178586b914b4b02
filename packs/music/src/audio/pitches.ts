import { toSpectrum } from "./fourier.ts";

export const PITCH_CLASSES = ["C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"] as const;

const LOWEST_PITCH = 36;
const HIGHEST_PITCH = 96;
const HARMONICS = 8;
const MAX_VOICES = 6;
/** A further note of a frame is at least this loud, compared with its loudest one. */
const AUDIBLE_SHARE = 0.2;
const SILENCE = 1e-4;

const frequencyOf = (pitch: number): number => 440 * 2 ** ((pitch - 69) / 12);

/** The pitches that sound in a frame, loudest first, as MIDI numbers with their strength. */
export function findPitches(
  samples: Float32Array,
  rate: number,
): { readonly pitch: number; readonly strength: number }[] {
  const spectrum = toSpectrum(samples);
  const found: { pitch: number; strength: number }[] = [];
  const hertzPerBin = rate / samples.length;
  while (found.length < MAX_VOICES) {
    const best = loudest(spectrum, hertzPerBin);
    if (best.strength < SILENCE || best.strength < AUDIBLE_SHARE * (found[0]?.strength ?? 0)) break;
    found.push(best);
    // Its overtones are not notes of their own.
    for (let harmonic = 1; harmonic <= HARMONICS * 2; harmonic++)
      silence(spectrum, (frequencyOf(best.pitch) * harmonic) / hertzPerBin);
  }
  return found;
}

function loudest(spectrum: Float64Array, hertzPerBin: number): { pitch: number; strength: number } {
  let best = { pitch: 0, strength: 0 };
  for (let pitch = LOWEST_PITCH; pitch <= HIGHEST_PITCH; pitch++) {
    const bin = frequencyOf(pitch) / hertzPerBin;
    const ground = peak(spectrum, bin);
    let strength = ground;
    // A note has a fundamental: without this an octave below would have the same overtones.
    for (let harmonic = 2; harmonic <= HARMONICS; harmonic++)
      strength += Math.min(ground, peak(spectrum, bin * harmonic)) * 0.7 ** (harmonic - 1);
    if (strength > best.strength) best = { pitch, strength };
  }
  return best;
}

/** The largest magnitude within a quarter tone of the bin. */
function peak(spectrum: Float64Array, bin: number): number {
  const reach = Math.max(1, Math.round(bin * (2 ** (1 / 24) - 1)));
  const middle = Math.round(bin);
  let largest = 0;
  for (let at = middle - reach; at <= middle + reach; at++) largest = Math.max(largest, spectrum[at] ?? 0);
  return largest;
}

function silence(spectrum: Float64Array, bin: number): void {
  const reach = Math.max(3, Math.round(bin * (2 ** (1 / 24) - 1)));
  const middle = Math.round(bin);
  for (let at = Math.max(0, middle - reach); at <= middle + reach && at < spectrum.length; at++)
    spectrum[at] = 0;
}
