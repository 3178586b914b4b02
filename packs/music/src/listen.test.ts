import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Music, openMusic } from "../testing/open-music.ts";

// A person's own tune: typed by hand, and the notes counted by hand below.
const TUNE = "X:1\nT:Morning walk\nM:4/4\nL:1/4\nQ:1/4=120\nK:G\nG A B d|e2 d2|c B A G|D4|]\n";
/** Pitch and beats of each note, read off the tune by a person. */
const NOTES: readonly (readonly [pitch: number, beats: number])[] = [
  [67, 1],
  [69, 1],
  [71, 1],
  [74, 1],
  [76, 2],
  [74, 2],
  [72, 1],
  [71, 1],
  [69, 1],
  [67, 1],
  [62, 4],
];
const BEAT_SECONDS = 0.5;

let music: Music;
beforeAll(async () => {
  music = await openMusic();
});
afterAll(async () => {
  expect(music.bugs).toEqual([]);
  await music[Symbol.asyncDispose]();
});

test("a tune typed as ABC becomes a WAV of the right length whose samples have the notes of the tune", async () => {
  const midi = await music.call("abc.to_midi", { abc: TUNE });
  expect(midi).toMatchObject({ title: "Morning walk", notes: NOTES.length, seconds: 8, problems: [] });
  const progress: number[] = [];
  const input = { source: midi.artifact.artifact_id };
  const wav = await music.call("audio.midi_to_wav", input, {
    onProgress: (one) => progress.push(one.progress),
  });
  expect(wav).toMatchObject({ seconds: 9, soundfont: "built-in", artifact: { name: "Morning walk.wav" } });
  expect(progress.length).toBeGreaterThan(5);
  expect(progress.at(-1)).toBeCloseTo(9, 3);

  const bytes = await music.bytesOf(wav.artifact);
  expect(bytes.length).toBe(44 + 9 * 44_100 * 4);
  let at = 0;
  for (const [pitch, beats] of NOTES) {
    // Within the note, away from its edges.
    expect(loudestPitch(bytes, at + 0.1, 0.3), `the note at ${at} s`).toBe(pitch);
    at += beats * BEAT_SECONDS;
  }

  const measured = await music.call("audio.analyze", { source: wav.artifact.artifact_id });
  expect(measured).toMatchObject({ seconds: 9, sample_rate: 44_100, channels: 2 });
  const heard = measured.pitch_classes.filter(({ share }: { share: number }) => share > 0.02);
  expect(heard.map(({ name }: { name: string }) => name).sort()).toEqual(["A", "B", "C", "D", "E", "G"]);
  expect(measured.rms).toBeGreaterThan(0.01);
  expect(measured.peak).toBeLessThanOrEqual(1);

  // The store knows where everything came from.
  expect(wav.artifact.parents).toEqual([midi.artifact.artifact_id]);
  const { artifacts } = await music.call("artifact.list", { tags: ["type:tune"] });
  expect(midi.artifact.parents).toEqual([artifacts[0].artifact_id]);
  expect(measured.picture.parents).toEqual([wav.artifact.artifact_id]);
  const { identities } = await music.call("graph.find", { name: "Morning walk.wav" });
  const { reached } = await music.call("graph.query", { from: identities[0].identity_id, kind: "made_from" });
  expect(reached.map(({ identity }: { identity: { name: string } }) => identity.name)).toEqual([
    "Morning walk.mid",
    "Morning walk.abc",
  ]);
});

/** A second source: each pitch is measured by itself, straight from the samples of the left channel (Goertzel). */
function loudestPitch(wav: Buffer, from: number, seconds: number): number {
  const rate = wav.readUInt32LE(24);
  const size = Math.round(seconds * rate);
  const samples = Array.from({ length: size }, (_, n) =>
    wav.readInt16LE(44 + (Math.round(from * rate) + n) * 4),
  );
  const power = (hertz: number) => {
    const w = (2 * Math.PI * hertz) / rate;
    let [a, b] = [0, 0];
    for (const sample of samples) [a, b] = [sample + 2 * Math.cos(w) * a - b, a];
    return a * a + b * b - 2 * Math.cos(w) * a * b;
  };
  const pitches = Array.from({ length: 37 }, (_, n) => 50 + n);
  const powers = pitches.map((pitch) => power(440 * 2 ** ((pitch - 69) / 12)));
  return pitches[powers.indexOf(Math.max(...powers))] ?? 0;
}

test("a result can be written to a file of the project, which is played from there", async () => {
  const midi = await music.call("abc.to_midi", { abc: TUNE, save: "songs/walk.mid" });
  expect(midi.artifact.size).toBeGreaterThan(100);
  const wav = await music.call("audio.midi_to_wav", {
    source: "songs/walk.mid",
    tail: 0,
    save: "songs/walk.wav",
  });
  expect(wav).toMatchObject({ seconds: 8, artifact: { name: "walk.wav", parents: [] } });
  const again = await music.call("abc.to_midi", { abc: TUNE, save: "songs/walk.mid" });
  expect(again.failed).toBe("ALREADY_EXISTS");
});

test("sheet music is drawn without a browser, and text in it cannot become markup", async () => {
  const abc =
    'X:1\nT:A <script>alert(1)</script> & "B"\nM:3/4\nL:1/8\nK:Dm\n"Dm"D2 F2 A2|"^<b>x"d6|]\nw: la <i> lo\n';
  const drawn = await music.call("abc.to_svg", { abc });
  const svg = (await music.bytesOf(drawn.artifact)).toString();
  expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  expect(svg).toContain("&lt;script&gt;");
  expect(svg).not.toMatch(/<(script|b|i)\b/);
  expect(svg.match(/<path/g)?.length).toBeGreaterThan(15);
});

test("the built-in soundfont has every program of General MIDI and drums", async () => {
  const found = await music.call("soundfont.inspect", {});
  expect(found).toMatchObject({ name: "Octant built-in" });
  expect(found.presets).toHaveLength(129);
  expect(found.presets.at(-1)).toMatchObject({ bank: 128, is_drum: true });
  const page = await music.reply("soundfont.inspect", { limit: 100 });
  const cursor = page.envelope.meta.paging.cursor;
  const rest = await music.call("soundfont.inspect", { limit: 100, cursor });
  expect(rest.presets).toHaveLength(29);
  const piano = await music.call("soundfont.preset_inspect", { program: 0 });
  expect(piano.zones.map(({ keys }: { keys: number[] }) => keys)).toEqual([
    [0, 71],
    [72, 127],
  ]);
  expect(await music.call("soundfont.preset_inspect", { bank: 3, program: 0 })).toMatchObject({
    failed: "NOT_FOUND",
  });
});

const SOUNDFONT = "timgm6mb-soundfont";
test.skipIf(inject("missing").includes(SOUNDFONT))(
  "a soundfont that others made is inspected and plays the notes of the tune",
  async () => {
    await using own = await openMusic({ soundfont: "/usr/share/sounds/sf2/TimGM6mb.sf2" });
    const found = await own.call("soundfont.inspect", { limit: 500 });
    expect(found.presets.length).toBeGreaterThan(128);
    expect(found.presets[0]).toMatchObject({ bank: 0, program: 0, name: expect.stringMatching(/piano/i) });
    const piano = await own.call("soundfont.preset_inspect", { program: 0 });
    expect(piano.zones.length).toBeGreaterThan(1);
    const midi = await own.call("abc.to_midi", { abc: TUNE });
    const wav = await own.call("audio.midi_to_wav", { source: midi.artifact.artifact_id });
    expect(wav).toMatchObject({ seconds: 9 });
    expect(wav.soundfont).not.toBe("built-in");
    const bytes = await own.bytesOf(wav.artifact);
    let at = 0;
    for (const [pitch, beats] of NOTES) {
      // A sampled piano may be louder in an overtone.
      expect(loudestPitch(bytes, at + 0.1, 0.3) % 12, `the note at ${at} s`).toBe(pitch % 12);
      at += beats * BEAT_SECONDS;
    }
    expect(own.bugs).toEqual([]);
  },
);

test("a problem in a tune is named by line and column of the whole text", async () => {
  const abc = "%%MIDI program 5\n\nX:1\nT:A\nK:C\nCD|\n\nX:2\nT:B\nK:C\nCD$E|\nG}A|\n";
  expect(await music.call("abc.validate", { abc })).toEqual({
    valid: false,
    problems: [
      { line: 11, col: 3, message: "Unknown character ignored" },
      { line: 12, col: 2, message: "Unknown character ignored" },
    ],
  });
  expect(await music.call("abc.validate", { abc: abc.replaceAll("\n", "\r\n") })).toMatchObject({
    problems: [
      { line: 11, col: 3 },
      { line: 12, col: 2 },
    ],
  });
  expect(await music.call("abc.validate", { abc: "X:1\nCDE|\n" })).toMatchObject({
    valid: false,
    problems: [{ line: 1, col: 1, message: expect.stringContaining("no key") }],
  });
  expect(await music.call("abc.validate", { abc: TUNE })).toEqual({ valid: true, problems: [] });
});

test("docs/music.md tells what happens with its tune", async () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/music.md"), "utf8");
  const [, abc = ""] = /```abc\n(.*?)```/s.exec(page) ?? [];
  const midi = await music.call("abc.to_midi", { abc });
  expect(page).toContain(`finds ${midi.notes} notes in ${midi.seconds} seconds`);
  const wav = await music.call("audio.midi_to_wav", { source: midi.artifact.artifact_id });
  expect(page).toContain(`${wav.seconds} seconds.`);
  const { pitch_classes } = await music.call("audio.analyze", { source: wav.artifact.artifact_id });
  const heard = pitch_classes.map(({ name }: { name: string }) => name).sort();
  expect(heard).toEqual(["A", "D", "E", "F#", "G"]);
  expect(midi.pitch_classes.toSorted()).toEqual(heard);
  expect(page).toContain("finds D, E, F#, G and A");
});
