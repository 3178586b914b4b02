import fc from "fast-check";
import { expect, test } from "vitest";
import { anyTune } from "../testing/any-tune.ts";
import { transpose } from "./abc/transpose.ts";
import { openTunes, toMidi } from "./abc/tunes.ts";
import { encodeWav, encodeWavHeader, readWav } from "./audio/wav.ts";
import { readMidi } from "./midi/read-midi.ts";

const RUNS = Number(process.env["FUZZ_RUNS"] ?? 40);

const pitchesOf = (abc: string) =>
  openTunes(abc).map((tune) => readMidi(toMidi(tune)).notes.map(({ pitch }) => pitch));

test("a tune that is transposed has every note moved, and back again it is the same music", () => {
  fc.assert(
    fc.property(anyTune, fc.integer({ min: -12, max: 12 }), ({ abc }, semitones) => {
      const moved = transpose({ abc, semitones }).abc;
      const before = pitchesOf(abc);
      expect(pitchesOf(moved)).toEqual(before.map((pitches) => pitches.map((pitch) => pitch + semitones)));
      expect(pitchesOf(transpose({ abc: moved, semitones: -semitones }).abc)).toEqual(before);
    }),
    { numRuns: RUNS },
  );
});

test("titles and other fields keep their text, and each tune of a book is transposed once", () => {
  const abc = "X:1\nT:OK: K:D go\nC:K: Jones\nK:C\nCDE|[K:G]F|\n\nX:2\nT:Two\nK:C\nC|\n";
  const { abc: moved } = transpose({ abc, semitones: 2 });
  expect(moved).toContain("T:OK: K:D go\nC:K: Jones\nK:D\n");
  expect(moved).toContain("T:Two\nK:D\nD");
  expect(pitchesOf(moved)).toEqual(pitchesOf(abc).map((tune) => tune.map((pitch) => pitch + 2)));
});

test("a MIDI file is as long as its tune, with all of its notes", () => {
  fc.assert(
    fc.property(anyTune, ({ abc, notes, seconds }) => {
      const [tune] = openTunes(abc);
      expect(tune?.problems).toEqual([]);
      const midi = readMidi(tune ? toMidi(tune) : new Uint8Array());
      expect(midi.notes).toHaveLength(notes);
      // MIDI counts whole ticks of a quarter note of whole microseconds.
      expect(midi.length).toBeCloseTo(seconds, 2);
      for (const { start, end } of midi.notes) expect(end).toBeGreaterThan(start);
    }),
    { numRuns: RUNS },
  );
});

test("a WAV header says what follows it, and samples survive within one step of 16 bits", () => {
  const anySound = fc.record({
    rate: fc.constantFrom(8_000, 22_050, 44_100, 48_000),
    channels: fc.integer({ min: 1, max: 8 }),
    samples: fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { maxLength: 64 }),
  });
  fc.assert(
    fc.property(anySound, ({ rate, channels, samples }) => {
      const sound = { rate, channels: Array.from({ length: channels }, () => Float32Array.from(samples)) };
      const wav = encodeWav(sound);
      expect(wav.subarray(0, 44)).toEqual(encodeWavHeader(samples.length, rate, channels));
      expect(wav.readUInt32LE(4)).toBe(wav.length - 8);
      expect(wav.readUInt32LE(40)).toBe(wav.length - 44);
      const read = readWav(wav);
      expect([read.rate, read.channels.length]).toEqual([rate, channels]);
      for (const channel of read.channels)
        for (const [n, sample] of samples.entries())
          expect(Math.abs((channel[n] ?? 9) - sample)).toBeLessThan(1 / 16_000);
    }),
    { numRuns: RUNS },
  );
});
