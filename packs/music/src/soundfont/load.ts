import { type BasicSoundBank, SoundBankLoader } from "spessasynth_core";
import { malformed, orMalformed, tooLarge } from "../malformed.ts";
import { idAt, readChunks, readRiff } from "../riff.ts";
import { MAX_SOUNDFONT_BYTES } from "./limits.ts";

const WHAT = "soundfont";
/** The tables of a soundfont and the size of their records. */
const RECORD_BYTES: Readonly<Record<string, number>> = {
  phdr: 38,
  pbag: 4,
  pmod: 10,
  pgen: 4,
  inst: 22,
  ibag: 4,
  imod: 10,
  igen: 4,
  shdr: 46,
};

/** Reads an SF2 or SF3 file. The structure is checked first, so that the library sees only sizes that are true. */
export function loadSoundfont(bytes: Uint8Array): BasicSoundBank {
  if (bytes.length > MAX_SOUNDFONT_BYTES) throw tooLarge("the soundfont", MAX_SOUNDFONT_BYTES, bytes.length);
  checkStructure(bytes);
  return orMalformed(WHAT, () => SoundBankLoader.fromArrayBuffer(Uint8Array.from(bytes).buffer));
}

function checkStructure(bytes: Uint8Array): void {
  const lists = readRiff(bytes, "sfbk", WHAT).filter(({ id }) => id === "LIST");
  const tables = lists.find(({ at }) => idAt(bytes, at) === "pdta");
  if (!tables) throw malformed(WHAT, 12, "has no list of presets (pdta)");
  const found = new Map(
    readChunks(bytes, tables.at + 4, tables.at + tables.size, WHAT).map((chunk) => [chunk.id, chunk]),
  );
  for (const [id, size] of Object.entries(RECORD_BYTES)) {
    const chunk = found.get(id);
    if (!chunk) throw malformed(WHAT, tables.at, `has no table '${id}'`);
    if (chunk.size < size || chunk.size % size !== 0)
      throw malformed(WHAT, chunk.at, `table '${id}' has ${chunk.size} bytes, no multiple of ${size}`);
  }
}
