import fc from "fast-check";
import { expect, test } from "vitest";
import { createMixer } from "./mixer.ts";
import { RATE, type Region } from "./schemas.ts";
import { regionsBetween } from "./store.ts";

const RUNS = Number(process.env["FUZZ_RUNS"] ?? 60);
/** One beat is a thousand frames. */
const BPM = 60;
const BEAT = RATE;

const anyRegions = fc
  .array(
    fc.record({
      beat: fc.integer({ min: 0, max: 40 }).map((n) => n / 1_000),
      frames: fc.integer({ min: 1, max: 2_000 }),
      gain: fc.constantFrom(0.25, 0.5, 1),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((list) =>
    list.map(({ beat, frames, gain }, n): Region & { readonly frames: number } => ({
      region_id: `region_${n}`,
      name: "",
      beat,
      gain,
      frames,
      seconds: frames / RATE,
      sound: String(n),
    })),
  );

/** Each sound is constant, and differs from all others. */
const levelOf = (region: Region): number => 2 ** -(Number(region.sound) + 2);
const open = (regions: readonly Region[]) => {
  const mixer = createMixer({
    regions: () => regions,
    soundOf: (region) => ({
      rate: RATE,
      channels: [new Float32Array(Math.round(region.seconds * RATE)).fill(levelOf(region))],
    }),
  });
  mixer.setBpm(BPM);
  return mixer;
};

function mixAll(regions: readonly Region[], blocks: readonly number[], total: number): Float32Array {
  const mixer = open(regions);
  const out = new Float32Array(total);
  for (let at = 0, n = 0; at < total; n++) {
    const frames = Math.min(blocks[n % blocks.length] ?? total, total - at);
    out.set(mixer.mix(frames)[0], at);
    at += frames;
  }
  return out;
}

const TOTAL = 4_000;

test("overlapping regions sound together as their sum, however the time is cut into blocks", () => {
  const blocks = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(anyRegions, blocks, (regions, cut) => {
      const wanted = new Float32Array(TOTAL);
      for (const region of regions) {
        const from = Math.round(region.beat * BEAT);
        for (let n = 0; n < region.frames && from + n < TOTAL; n++)
          wanted[from + n]! += levelOf(region) * region.gain;
      }
      expect(mixAll(regions, [TOTAL], TOTAL)).toEqual(wanted);
      const apart = mixAll(regions, cut, TOTAL);
      // A block begins at a beat that is not exact, so a region may begin one frame aside.
      const differing = apart.filter((sample, n) => Math.abs(sample - (wanted[n] ?? 0)) > 1e-6).length;
      expect(differing).toBeLessThanOrEqual(regions.length * 2);
    }),
    { numRuns: RUNS },
  );
});

test("a region is between two beats exactly if one of its frames is", () => {
  const range = fc.tuple(fc.integer({ min: 0, max: 90 }), fc.integer({ min: 0, max: 90 }));
  fc.assert(
    fc.property(anyRegions, range, (regions, [a, b]) => {
      const [start, end] = [Math.min(a, b) / 1_000, (Math.max(a, b) + 1) / 1_000];
      const found = regionsBetween(regions, start, end, BPM);
      for (const region of regions) {
        const until = region.beat + region.frames / BEAT;
        expect(found.includes(region)).toBe(region.beat < end && until > start);
      }
    }),
    { numRuns: RUNS },
  );
});

test("seeking into a region plays the rest of it, and its end is the end of the music", () => {
  const region: Region = { region_id: "region_0", name: "", beat: 0.01, gain: 1, seconds: 0.02, sound: "0" };
  const mixer = open([region]);
  mixer.seek(0.02);
  const [left] = mixer.mix(1_000);
  expect(left.filter((sample) => sample > 0)).toHaveLength(Math.round(0.01 * RATE));
  expect(mixer.isOver).toBe(true);
});

test("a new tempo does not disturb a sound that is playing", () => {
  const region: Region = { region_id: "region_0", name: "", beat: 0, gain: 1, seconds: 0.1, sound: "0" };
  const mixer = createMixer({
    regions: () => [region],
    soundOf: () => ({ rate: RATE, channels: [Float32Array.from({ length: 4_410 }, (_, n) => n / 4_410)] }),
  });
  const first = mixer.mix(1_000)[0];
  mixer.setBpm(240);
  const all = [...first, ...mixer.mix(3_410)[0]];
  expect(all.every((sample, n) => Math.abs(sample - n / 4_410) < 1e-6)).toBe(true);
});
