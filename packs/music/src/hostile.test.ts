import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Music, openMusic } from "../testing/open-music.ts";
import { openTunes, toMidi } from "./abc/tunes.ts";
import { encodeWav, readWav } from "./audio/wav.ts";
import { readMidi } from "./midi/read-midi.ts";
import { createBuiltInSoundfont } from "./soundfont/built-in.ts";
import { inspectSoundfont } from "./soundfont/inspect.ts";

const RUNS = Number(process.env["FUZZ_RUNS"] ?? 150);
const MIDI = toMidi(openTunes("X:1\nT:T\nK:C\nCDEF|G4|]\n")[0]!);
const WAV = encodeWav({ rate: 8_000, channels: [Float32Array.from({ length: 50 }, (_, n) => Math.sin(n))] });
const SOUNDFONT = createBuiltInSoundfont();

let music: Music;
beforeAll(async () => {
  music = await openMusic();
});
afterAll(async () => {
  expect(music.bugs).toEqual([]);
  await music[Symbol.asyncDispose]();
});

/** A valid file with some bytes replaced, cut short, or continued. */
const damaged = (bytes: Uint8Array, runs = RUNS) => ({
  bytes: fc
    .record({
      edits: fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 8 }),
      size: fc.oneof(fc.constant(bytes.length), fc.nat(bytes.length + 8)),
    })
    .map(({ edits, size }) => {
      const copy = Buffer.alloc(size);
      copy.set(bytes.subarray(0, size));
      for (const [at, value] of edits) if (at < size) copy[at] = value;
      return copy;
    }),
  runs,
});

const READERS: Record<string, [(bytes: Uint8Array) => unknown, ReturnType<typeof damaged>]> = {
  MIDI: [readMidi, damaged(MIDI)],
  WAV: [readWav, damaged(WAV)],
  soundfont: [inspectSoundfont, damaged(SOUNDFONT, Math.ceil(RUNS / 10))],
};

test.each(Object.entries(READERS))(
  "damaged %s is read, or refused with the offset of a byte",
  (_, [read, { bytes, runs }]) => {
    fc.assert(
      fc.property(bytes, (given) => {
        try {
          read(given);
        } catch (cause) {
          if (!(cause instanceof ToolError)) throw cause;
          expect(["INVALID_ARGUMENT", "TOO_LARGE"]).toContain(cause.code);
          if (cause.code === "INVALID_ARGUMENT") expect(cause.message).toMatch(/: byte \d+: /);
        }
      }),
      { numRuns: runs },
    );
  },
);

test("any text is a tune with problems, never a crash", () => {
  const characters = "CDEFGabc,'^_=|:[](){}<>\"!+*/~123 \nXKTLMQVwP%&z\\-.$\u0000é";
  const anyText = fc.string({ unit: fc.constantFrom(...characters), maxLength: 200 });
  fc.assert(
    fc.property(anyText, fc.boolean(), (text, headed) => {
      try {
        for (const tune of openTunes(headed ? `X:1\nK:C\n${text}` : text)) readMidi(toMidi(tune));
      } catch (cause) {
        if (!(cause instanceof ToolError)) throw cause;
        expect(cause.code).toBe("INVALID_ARGUMENT");
      }
    }),
    { numRuns: RUNS },
  );
});

test("a MIDI file that would last for days is refused before a sample is made", async () => {
  // One track: a note, then the largest pause, 2^28 - 1 ticks of a quarter note each, then its end.
  const track = [0x00, 0x90, 60, 100, 0xff, 0xff, 0xff, 0x7f, 0x80, 60, 0, 0x00, 0xff, 0x2f, 0x00];
  const header = [
    ...Buffer.from("MThd"),
    0,
    0,
    0,
    6,
    0,
    0,
    0,
    1,
    0,
    1,
    ...Buffer.from("MTrk"),
    0,
    0,
    0,
    track.length,
  ];
  writeFileSync(join(music.base, "days.mid"), Buffer.from([...header, ...track]));
  expect(await music.call("audio.midi_to_wav", { source: "days.mid" })).toMatchObject({
    failed: "TOO_LARGE",
    details: { what: "seconds" },
  });
});

test.each([
  ["audio.midi_to_wav", "MIDI file: byte 0"],
  ["audio.analyze", "WAV file: byte 0"],
  ["soundfont.inspect", "soundfont: byte 0"],
])("%s refuses a file of another kind and says what it expected", async (action, message) => {
  writeFileSync(join(music.base, "notes.txt"), "just some text, long enough for a header");
  expect(await music.call(action, { source: "notes.txt" })).toMatchObject({
    failed: "INVALID_ARGUMENT",
    message: expect.stringContaining(message),
  });
});

test("a cancelled call ends its thread at once", async () => {
  const { artifact } = await music.call("abc.to_midi", { abc: `X:1\nQ:1/4=20\nK:C\n${"C8|".repeat(90)}\n` });
  const controller = new AbortController();
  const onProgress = () => controller.abort();
  const wav = music.call(
    "audio.midi_to_wav",
    { source: artifact.artifact_id },
    { signal: controller.signal, onProgress },
  );
  expect((await wav).failed).toBe("CANCELLED");
});

test("a missing soundfont of the settings is named with the setting", async () => {
  await using other = await openMusic({ soundfont: "/nowhere/none.sf2" });
  expect(await other.call("soundfont.inspect", {})).toMatchObject({
    failed: "UNSUPPORTED",
    details: { what: "packs.music.settings.soundfont" },
  });
});

test("the person's own soundfont is used where the settings name one", async () => {
  const path = join(music.base, "own.sf2");
  writeFileSync(path, SOUNDFONT);
  await using other = await openMusic({ soundfont: path });
  const { artifact } = await other.call("abc.to_midi", { abc: "X:1\nK:C\nC|\n" });
  expect(await other.call("audio.midi_to_wav", { source: artifact.artifact_id })).toMatchObject({
    soundfont: "settings",
  });
});
