import { ToolError } from "@octant/core";
import { type BasicPreset, type BasicZone, GeneratorTypes } from "spessasynth_core";
import { createBuiltInSoundfont } from "./built-in.ts";
import { loadSoundfont } from "./load.ts";

/** Without bytes: the built-in sounds. */
export function inspectSoundfont(bytes: Uint8Array = createBuiltInSoundfont()) {
  const bank = loadSoundfont(bytes);
  return {
    name: clean(bank.soundBankInfo.name),
    bytes: bytes.length,
    instruments: bank.instruments.length,
    samples: bank.samples.length,
    presets: bank.presets.map(toPreset).sort((a, b) => a.bank - b.bank || a.program - b.program),
  };
}

const DRUM_BANK = 128;
const toPreset = (preset: BasicPreset) => ({
  bank: preset.isGMGSDrum ? DRUM_BANK : preset.bankMSB,
  program: preset.program,
  name: clean(preset.name),
  is_drum: preset.isDrum,
});

export function inspectPreset(input: { bytes: Uint8Array | undefined; bank: number; program: number }) {
  const { bytes = createBuiltInSoundfont(), bank, program } = input;
  const preset = loadSoundfont(bytes).presets.find((one) => {
    const known = toPreset(one);
    return known.bank === bank && known.program === program;
  });
  if (!preset) {
    const message = `the soundfont has no preset ${bank}:${program}; soundfont.inspect lists them`;
    throw new ToolError("NOT_FOUND", message, { id: `${bank}:${program}` });
  }
  const zones = preset.zones.flatMap((outer) =>
    outer.instrument.zones.map((zone) => ({
      instrument: clean(outer.instrument.name),
      sample: clean(zone.sample.name),
      keys: overlap(rangeOf(outer.keyRange), rangeOf(zone.keyRange)),
      velocities: overlap(rangeOf(outer.velRange), rangeOf(zone.velRange)),
      root_key: zone.getGenerator(GeneratorTypes.overridingRootKey, zone.sample.originalKey),
      sample_rate: zone.sample.sampleRate,
      loops: isLooping(zone, outer.instrument.globalZone),
    })),
  );
  return { ...toPreset(preset), zones };
}

const isLooping = (zone: BasicZone, global: BasicZone): boolean =>
  zone.getGenerator(GeneratorTypes.sampleModes, global.getGenerator(GeneratorTypes.sampleModes, 0)) % 2 === 1;

type Range = readonly [low: number, high: number];

const rangeOf = ({ min, max }: { min: number; max: number }): Range => [Math.max(0, min), Math.min(127, max)];
const overlap = (a: Range, b: Range): [number, number] => [Math.max(a[0], b[0]), Math.min(a[1], b[1])];

/** Names in the file are padded with zeros and may contain anything. */
const clean = (name: string): string => name.replace(/[\x00-\x1f\x7f]/g, "").trim();
