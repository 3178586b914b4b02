import {
  BasicInstrument,
  BasicPreset,
  type BasicSample,
  BasicSoundBank,
  EmptySample,
  Generator,
  type GeneratorType,
  GeneratorTypes,
} from "spessasynth_core";

const RATE = 44_100;
const CYCLE = 256;
/** The note that one cycle of 256 samples is: 172.27 Hz, F3 less 23 cents. */
const CYCLE_KEY = 53;
const CYCLE_CENTS = -23;
/** Keys above play with fewer overtones, which would otherwise fold back as false notes. */
const HIGHEST_RICH_KEY = 71;
const PLAIN_HARMONICS = 4;
const PROGRAMS_PER_FAMILY = 8;

interface Timbre {
  readonly name: string;
  /** The strengths of its harmonics. */
  readonly harmonics: readonly number[];
  /** Seconds. */
  readonly attack: number;
  readonly decay: number;
  readonly release: number;
  /** Decibels below the peak while the key is held. */
  readonly sustain: number;
}

const plucked = { attack: 0.003, sustain: 90, release: 0.15 };
const held = { attack: 0.03, decay: 0.2, sustain: 3, release: 0.12 };

/** One timbre for each of the 16 families of General MIDI. */
const TIMBRES: readonly Timbre[] = [
  { name: "Piano", harmonics: [1, 0.5, 0.3, 0.2, 0.12, 0.08, 0.05, 0.03], ...plucked, decay: 6 },
  { name: "Chimes", harmonics: [1, 0, 0.15, 0.3, 0, 0.08], ...plucked, decay: 4 },
  { name: "Organ", harmonics: [1, 0.7, 0.5, 0.4, 0.2, 0.25, 0.05, 0.2], ...held, attack: 0.01 },
  { name: "Guitar", harmonics: [1, 0.6, 0.4, 0.25, 0.2, 0.12, 0.08, 0.05], ...plucked, decay: 4 },
  { name: "Bass", harmonics: [1, 0.5, 0.25, 0.1], ...plucked, decay: 3 },
  { name: "Strings", harmonics: [1, 0.5, 0.33, 0.25, 0.2, 0.17, 0.14, 0.12], ...held, attack: 0.08 },
  { name: "Ensemble", harmonics: [1, 0.6, 0.35, 0.3, 0.15, 0.12], ...held, attack: 0.1 },
  { name: "Brass", harmonics: [0.8, 1, 0.8, 0.6, 0.4, 0.25, 0.15, 0.1], ...held },
  { name: "Reed", harmonics: [1, 0.1, 0.7, 0.08, 0.4, 0.05, 0.2], ...held },
  { name: "Pipe", harmonics: [1, 0.15, 0.08, 0.02], ...held },
  { name: "Lead", harmonics: [1, 0, 0.33, 0, 0.2, 0, 0.14, 0, 0.11], ...held, attack: 0.005 },
  { name: "Pad", harmonics: [1, 0.4, 0.2, 0.1], ...held, attack: 0.3, release: 0.5 },
  { name: "Effects", harmonics: [1, 0.3, 0, 0.3, 0, 0.2], ...held, attack: 0.2, release: 0.4 },
  { name: "Strummed", harmonics: [1, 0.8, 0.6, 0.4, 0.3, 0.2, 0.15, 0.1], ...plucked, decay: 2 },
  { name: "Struck", harmonics: [1, 0.3, 0.1], ...plucked, decay: 0.6 },
  { name: "Sounds", harmonics: [1, 0.2], ...held, attack: 0.2 },
];

/** The drums of General MIDI, roughly: keys, how long they ring, and how much of them is noise. */
const DRUMS = [
  { name: "Kick", keys: [27, 36], hertz: 60, noise: 0.1, seconds: 0.25 },
  { name: "Snare", keys: [37, 40], hertz: 190, noise: 0.8, seconds: 0.2 },
  { name: "Tom", keys: [41, 41], hertz: 110, noise: 0.2, seconds: 0.3 },
  { name: "Hi-hat", keys: [42, 46], hertz: 6_000, noise: 1, seconds: 0.08 },
  { name: "Toms", keys: [47, 50], hertz: 160, noise: 0.2, seconds: 0.3 },
  { name: "Cymbal", keys: [51, 59], hertz: 5_000, noise: 1, seconds: 0.8 },
  { name: "Percussion", keys: [60, 87], hertz: 400, noise: 0.3, seconds: 0.15 },
] as const;

/** A small General MIDI sound bank made of computed waves: free of any licence, and the same on every machine. */
export function createBuiltInSoundfont(): Uint8Array {
  const bank = new BasicSoundBank();
  bank.soundBankInfo.name = "Octant built-in";
  for (const [family, timbre] of TIMBRES.entries()) {
    const instrument = createInstrument(bank, timbre);
    for (let n = 0; n < PROGRAMS_PER_FAMILY; n++)
      addPreset(bank, instrument, `${timbre.name} ${n + 1}`, family * PROGRAMS_PER_FAMILY + n);
  }
  addPreset(bank, createDrums(bank), "Drums", 0, true);
  bank.flush();
  return new Uint8Array(bank.writeSF2());
}

function addPreset(
  bank: BasicSoundBank,
  instrument: BasicInstrument,
  name: string,
  program: number,
  isDrum = false,
): void {
  const preset = new BasicPreset(bank);
  preset.name = name;
  preset.program = program;
  preset.isGMGSDrum = isDrum;
  preset.createZone(instrument);
  bank.addPresets(preset);
}

function createInstrument(bank: BasicSoundBank, timbre: Timbre): BasicInstrument {
  const { name, harmonics, attack, decay, sustain, release } = timbre;
  const instrument = new BasicInstrument();
  instrument.name = name;
  setAll(instrument.globalZone, [
    [GeneratorTypes.attackVolEnv, toTimecents(attack)],
    [GeneratorTypes.decayVolEnv, toTimecents(decay)],
    [GeneratorTypes.sustainVolEnv, sustain * 10],
    [GeneratorTypes.releaseVolEnv, toTimecents(release)],
    [GeneratorTypes.sampleModes, 1],
  ]);
  const rich = addSample(bank, `${name} low`, toCycle(harmonics));
  const plain = addSample(bank, `${name} high`, toCycle(harmonics.slice(0, PLAIN_HARMONICS)));
  instrument.createZone(rich).keyRange = { min: 0, max: HIGHEST_RICH_KEY };
  instrument.createZone(plain).keyRange = { min: HIGHEST_RICH_KEY + 1, max: 127 };
  bank.addInstruments(instrument);
  return instrument;
}

function createDrums(bank: BasicSoundBank): BasicInstrument {
  const instrument = new BasicInstrument();
  instrument.name = "Drums";
  // Every key of a drum sounds the same, and rings to its end.
  setAll(instrument.globalZone, [
    [GeneratorTypes.scaleTuning, 0],
    [GeneratorTypes.releaseVolEnv, toTimecents(1)],
  ]);
  for (const { name, keys, ...drum } of DRUMS) {
    const sample = addSample(bank, name, toHit(drum));
    const zone = instrument.createZone(sample);
    zone.keyRange = { min: keys[0], max: keys[1] };
  }
  bank.addInstruments(instrument);
  return instrument;
}

function setAll(zone: { addGenerators(...all: Generator[]): void }, values: [GeneratorType, number][]): void {
  zone.addGenerators(...values.map(([type, value]) => new Generator(type, value)));
}

const toTimecents = (seconds: number): number => Math.round(1_200 * Math.log2(seconds));

function addSample(bank: BasicSoundBank, name: string, samples: Float32Array): BasicSample {
  const sample = new EmptySample();
  sample.name = name;
  sample.originalKey = CYCLE_KEY;
  sample.pitchCorrection = -CYCLE_CENTS;
  sample.loopStart = 0;
  sample.loopEnd = samples.length;
  sample.setAudioData(samples, RATE);
  bank.addSamples(sample);
  return sample;
}

function toCycle(harmonics: readonly number[]): Float32Array {
  const total = harmonics.reduce((sum, one) => sum + one, 0);
  return Float32Array.from({ length: CYCLE }, (_, n) =>
    harmonics.reduce(
      (sum, level, h) => sum + (level / total) * Math.sin((2 * Math.PI * (h + 1) * n) / CYCLE),
      0,
    ),
  );
}

function toHit({ hertz, noise, seconds }: { hertz: number; noise: number; seconds: number }): Float32Array {
  let seed = 1;
  return Float32Array.from({ length: Math.round(RATE * seconds) }, (_, n) => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    const random = seed / 0x3fffffff - 1;
    const tone = Math.sin((2 * Math.PI * hertz * n) / RATE);
    return (noise * random + (1 - noise) * tone) * Math.exp((-6 * n) / (RATE * seconds));
  });
}
