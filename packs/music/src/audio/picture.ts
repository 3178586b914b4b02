import { toSpectrum } from "./fourier.ts";
import { encodePng } from "./png.ts";
import type { Sound } from "./wav.ts";

const WIDTH = 800;
const HEIGHT = 360;
const FRAME = 4_096;
const LOWEST_HERTZ = 55;
const OCTAVES = 7;
const QUIETEST_DECIBELS = -60;
const SILENCE = 1e-9;

/** The spectrum over time: seconds from left to right, octaves from 55 Hz upwards, one line for every C. */
export function drawSpectrum(sound: Sound): Buffer {
  const mono = toMono(sound);
  const pixels = new Uint8Array(WIDTH * HEIGHT * 3);
  const bins = Array.from({ length: HEIGHT }, (_, y) => {
    const hertz = LOWEST_HERTZ * 2 ** ((OCTAVES * (HEIGHT - 1 - y)) / (HEIGHT - 1));
    return (hertz * FRAME) / sound.rate;
  });
  const levels = new Float32Array(WIDTH * HEIGHT);
  for (let x = 0; x < WIDTH; x++) {
    const middle = Math.floor(((x + 0.5) / WIDTH) * mono.length);
    const spectrum = toSpectrum(frameAround(mono, middle, FRAME));
    for (let y = 0; y < HEIGHT; y++) levels[y * WIDTH + x] = at(spectrum, bins[y] ?? 0);
  }
  // Compared with the loudest point, so that quiet sounds are seen, too.
  const loudest = levels.reduce((a, b) => Math.max(a, b), SILENCE);
  for (const [n, level] of levels.entries()) {
    const decibels = 20 * Math.log10((level + SILENCE) / loudest);
    paint(pixels, n, Math.max(0, Math.min(1, 1 - decibels / QUIETEST_DECIBELS)));
  }
  drawOctaves(pixels);
  return encodePng(WIDTH, HEIGHT, pixels);
}

export function toMono({ channels }: Sound): Float32Array {
  const mono = new Float32Array(channels[0]?.length ?? 0);
  for (const channel of channels)
    for (let n = 0; n < mono.length; n++) mono[n]! += (channel[n] ?? 0) / channels.length;
  return mono;
}

export function frameAround(samples: Float32Array, middle: number, size: number): Float32Array {
  const frame = new Float32Array(size);
  const from = middle - size / 2;
  const first = Math.max(0, from);
  frame.set(samples.subarray(first, Math.max(first, Math.min(samples.length, from + size))), first - from);
  return frame;
}

/** Between two bins, both count. */
function at(spectrum: Float64Array, bin: number): number {
  const low = Math.floor(bin);
  const share = bin - low;
  return (spectrum[low] ?? 0) * (1 - share) + (spectrum[low + 1] ?? 0) * share;
}

/** Black, purple, orange, white: also readable in grey. */
function paint(pixels: Uint8Array, pixel: number, level: number): void {
  const red = Math.min(1, level * 1.6);
  const green = Math.max(0, level * 1.8 - 0.8);
  const blue = level < 0.5 ? level : Math.max(1 - level, (level - 0.75) * 4);
  pixels.set(
    [red, green, blue].map((part) => Math.round(255 * Math.max(0, Math.min(1, part)))),
    pixel * 3,
  );
}

const C2_HERTZ = 65.406;

function drawOctaves(pixels: Uint8Array): void {
  for (let hertz = C2_HERTZ; ; hertz *= 2) {
    const share = Math.log2(hertz / LOWEST_HERTZ) / OCTAVES;
    if (share > 1) return;
    const y = Math.round((HEIGHT - 1) * (1 - share));
    for (let x = 0; x < WIDTH; x += 6) pixels.set([110, 130, 150], (y * WIDTH + x) * 3);
  }
}
