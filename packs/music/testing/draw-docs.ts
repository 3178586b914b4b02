// Draws the pictures of docs/music.md: node packs/music/testing/draw-docs.ts
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openMusic } from "./open-music.ts";

const PICTURES = join(import.meta.dirname, "../../../docs/pictures");
const abc = readFileSync(join(import.meta.dirname, "ode.abc"), "utf8");

await using music = await openMusic();
const sheet = await music.call("abc.to_svg", { abc });
writeFileSync(join(PICTURES, "music-sheet.svg"), await music.bytesOf(sheet.artifact));
const midi = await music.call("abc.to_midi", { abc });
const wav = await music.call("audio.midi_to_wav", { source: midi.artifact.artifact_id });
const measured = await music.call("audio.analyze", { source: wav.artifact.artifact_id });
writeFileSync(join(PICTURES, "music-spectrum.png"), await music.bytesOf(measured.picture));
console.log({ ...measured, picture: undefined });
