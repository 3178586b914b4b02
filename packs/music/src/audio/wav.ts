import { malformed, tooLarge } from "../malformed.ts";
import { readRiff, viewOf } from "../riff.ts";

export interface Sound {
  readonly rate: number;
  /** One list of samples between -1 and 1 for each channel. */
  readonly channels: readonly Float32Array[];
}

export const MAX_WAV_BYTES = 256 * 1024 * 1024;
export const WAV_HEADER_BYTES = 44;
const MAX_CHANNELS = 8;
const MIN_RATE = 1_000;
const MAX_RATE = 384_000;
const WHAT = "WAV file";
const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

/** The header of 16-bit PCM; the samples follow, frame by frame. */
export function encodeWavHeader(frames: number, rate: number, channels: number): Buffer {
  const frameBytes = channels * 2;
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write("RIFF", 0);
  header.writeUInt32LE(WAV_HEADER_BYTES - 8 + frames * frameBytes, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(PCM, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36);
  header.writeUInt32LE(frames * frameBytes, 40);
  return header;
}

/** Samples as 16-bit PCM, frame by frame; louder ones are clipped. */
export function encodeFrames(channels: readonly Float32Array[], frames: number): Buffer {
  const bytes = Buffer.alloc(frames * channels.length * 2);
  let at = 0;
  for (let frame = 0; frame < frames; frame++)
    for (const channel of channels) {
      const sample = Math.max(-1, Math.min(1, channel[frame] ?? 0));
      bytes.writeInt16LE(Math.round(sample * 32_767), at);
      at += 2;
    }
  return bytes;
}

export const encodeWav = ({ rate, channels }: Sound): Buffer => {
  const frames = channels[0]?.length ?? 0;
  return Buffer.concat([encodeWavHeader(frames, rate, channels.length), encodeFrames(channels, frames)]);
};

interface Format {
  readonly code: number;
  readonly channels: number;
  readonly rate: number;
  readonly bits: number;
}

/** Reads PCM of 8, 16, 24 and 32 bits, and floats of 32 and 64 bits. */
export function readWav(bytes: Uint8Array): Sound {
  if (bytes.length > MAX_WAV_BYTES) throw tooLarge("the WAV file", MAX_WAV_BYTES, bytes.length);
  const chunks = readRiff(bytes, "WAVE", WHAT);
  const described = chunks.find(({ id }) => id === "fmt ");
  if (!described || described.size < 16) throw malformed(WHAT, described?.at ?? 12, "has no format chunk");
  const format = readFormat(bytes, described.at, described.size);
  const data = chunks.find(({ id }) => id === "data");
  if (!data) throw malformed(WHAT, bytes.length, "has no data chunk");
  const read = READERS[`${format.code}/${format.bits}`];
  if (!read)
    throw malformed(WHAT, described.at, `format ${format.code} with ${format.bits} bits is not supported`);
  const sampleBytes = format.bits / 8;
  const frames = Math.floor(data.size / (sampleBytes * format.channels));
  const channels = Array.from({ length: format.channels }, () => new Float32Array(frames));
  const view = viewOf(bytes);
  for (let frame = 0, at = data.at; frame < frames; frame++)
    for (const channel of channels) {
      const sample = read(view, at);
      channel[frame] = Number.isFinite(sample) ? sample : 0;
      at += sampleBytes;
    }
  return { rate: format.rate, channels };
}

function readFormat(bytes: Uint8Array, at: number, size: number): Format {
  const view = viewOf(bytes);
  const given = view.getUint16(at, true);
  // The sub-format of an extensible header begins with the code that older headers have.
  const code = given === EXTENSIBLE && size >= 26 ? view.getUint16(at + 24, true) : given;
  const channels = view.getUint16(at + 2, true);
  const rate = view.getUint32(at + 4, true);
  if (channels < 1 || channels > MAX_CHANNELS)
    throw malformed(WHAT, at + 2, `has ${channels} channels; 1 to ${MAX_CHANNELS} are supported`);
  if (rate < MIN_RATE || rate > MAX_RATE)
    throw malformed(WHAT, at + 4, `has ${rate} samples a second; ${MIN_RATE} to ${MAX_RATE} are supported`);
  return { code, channels, rate, bits: view.getUint16(at + 14, true) };
}

const READERS: Readonly<Record<string, (view: DataView, at: number) => number>> = {
  [`${PCM}/8`]: (view, at) => (view.getUint8(at) - 128) / 128,
  [`${PCM}/16`]: (view, at) => view.getInt16(at, true) / 32_768,
  [`${PCM}/24`]: (view, at) => (view.getInt8(at + 2) * 65_536 + view.getUint16(at, true)) / 8_388_608,
  [`${PCM}/32`]: (view, at) => view.getInt32(at, true) / 2_147_483_648,
  [`${FLOAT}/32`]: (view, at) => view.getFloat32(at, true),
  [`${FLOAT}/64`]: (view, at) => view.getFloat64(at, true),
};
