import fc from "fast-check";

const KEYS = ["C", "G", "D", "A", "E", "F", "Bb", "Eb", "Am", "Em", "Dm", "Bm", "Ddor", "Amix"];
const METERS = [
  { meter: "4/4", eighths: 8 },
  { meter: "3/4", eighths: 6 },
  { meter: "6/8", eighths: 6 },
] as const;

const note = fc.record({
  accidental: fc.constantFrom("", "", "", "", "^", "_", "="),
  letter: fc.constantFrom(..."CDEFGABcdefgab"),
  octave: fc.constantFrom("", "", "", ","),
  rest: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});

export interface AnyTune {
  readonly abc: string;
  readonly notes: number;
  /** In seconds, by the arithmetic of a person with the notation before them. */
  readonly seconds: number;
}

/** Whole bars of eighth notes in a key, a meter and a tempo; the last note is never a rest. */
export const anyTune: fc.Arbitrary<AnyTune> = fc
  .record({
    key: fc.constantFrom(...KEYS),
    meter: fc.constantFrom(...METERS),
    quarters: fc.integer({ min: 40, max: 240 }),
    bars: fc.integer({ min: 1, max: 4 }),
    notes: fc.array(note, { minLength: 32, maxLength: 32 }),
  })
  .map(({ key, meter: { meter, eighths }, quarters, bars, notes }) => {
    const used = notes.slice(0, bars * eighths);
    const written = used.map(({ accidental, letter, octave, rest }, n) => {
      if (rest && n < used.length - 1) return "z";
      // A comma lowers a capital; after a small letter it would be a capital of its own.
      return `${accidental}${octave ? letter.toUpperCase() : letter}${octave}`;
    });
    const lines = Array.from({ length: bars }, (_, bar) =>
      written.slice(bar * eighths, (bar + 1) * eighths).join(" "),
    );
    return {
      abc: `X:1\nT:Any\nM:${meter}\nL:1/8\nQ:1/4=${quarters}\nK:${key}\n${lines.join("|")}|]\n`,
      notes: written.filter((one) => one !== "z").length,
      seconds: (written.length * 30) / quarters,
    };
  });
