import { BasicMIDI, SpessaSynthProcessor, SpessaSynthSequencer } from "spessasynth_core";
import { encodeFrames } from "../audio/wav.ts";
import { orMalformed, tooLarge } from "../malformed.ts";
import { createBuiltInSoundfont } from "../soundfont/built-in.ts";
import { loadSoundfont } from "../soundfont/load.ts";
import { readMidi } from "./read-midi.ts";

export interface RenderInput {
  readonly midi: Uint8Array;
  /** The built-in one when absent. */
  readonly soundfont: Uint8Array | undefined;
  readonly rate: number;
  /** Seconds after the last event, for notes that fade. */
  readonly tail: number;
}

const MAX_SECONDS = 30 * 60;
const QUANTUM = 128;
const BLOCK_SECONDS = 1;

/** Plays a MIDI file. First the number of frames, then 16-bit stereo PCM of about a second each. */
export async function* renderMidi(input: RenderInput): AsyncGenerator<number | Uint8Array> {
  const { rate } = input;
  const { length } = readMidi(input.midi);
  if (length > MAX_SECONDS) throw tooLarge("the MIDI file", MAX_SECONDS, Math.round(length), "seconds");
  const frames = Math.ceil((length + input.tail) * rate);
  const synth = new SpessaSynthProcessor(rate, { eventsEnabled: false });
  await synth.processorInitialized;
  const bank = loadSoundfont(input.soundfont ?? createBuiltInSoundfont());
  synth.soundBankManager.addSoundBank(bank, "main");
  const sequencer = new SpessaSynthSequencer(synth);
  sequencer.loadNewSongList([toSong(input.midi)]);
  sequencer.loopCount = 0;
  sequencer.skipToFirstNoteOn = false;
  sequencer.play();
  yield frames;
  const blockFrames = Math.ceil((rate * BLOCK_SECONDS) / QUANTUM) * QUANTUM;
  for (let done = 0; done < frames; done += blockFrames) {
    const left = new Float32Array(blockFrames);
    const right = new Float32Array(blockFrames);
    const count = Math.min(blockFrames, frames - done);
    for (let at = 0; at < count; at += QUANTUM) {
      sequencer.processTick();
      synth.process(left, right, at, QUANTUM);
    }
    yield encodeFrames([left, right], count);
  }
}

function toSong(midi: Uint8Array): BasicMIDI {
  return orMalformed("MIDI file", () => BasicMIDI.fromArrayBuffer(Uint8Array.from(midi).buffer));
}
