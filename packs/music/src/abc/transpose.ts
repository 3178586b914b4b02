import { ToolError } from "@octant/core";
import abcjs from "abcjs";
import { orMalformed } from "../malformed.ts";
import { readMidi } from "../midi/read-midi.ts";
import { respell } from "./respell.ts";
import { type OpenTune, openTunes, toMidi } from "./tunes.ts";

/** Transposes every tune of the text by semitones, keys and chord names included. */
export function transpose({ abc, semitones }: { abc: string; semitones: number }): { abc: string } {
  const text = abc.replaceAll(/\r\n?/g, "\n");
  const tunes = openTunes(text);
  let result = "";
  let done = 0;
  for (const tune of tunes) {
    // One tune at a time: abcjs changes the keys of all tunes in the text once for each of them.
    result += text.slice(done, tune.start) + transposeTune(tune, semitones);
    done = tune.start + tune.text.length;
  }
  const transposed = result + text.slice(done);
  openTunes(transposed).forEach((after, n) => {
    const before = tunes[n];
    if (before) checkPitches(before, after, semitones);
  });
  return { abc: transposed };
}

/** abcjs takes every `K:` for a key, also in a title such as `T:OK: go`. */
const HIDDEN_COLON = "\u0001";
const OTHER_FIELD = /^(?:[A-JL-Za-z]:|%)[^\n]*$/gm;

function transposeTune({ text }: OpenTune, semitones: number): string {
  const hidden = text.replaceAll(OTHER_FIELD, (line) => line.replaceAll("K:", `K${HIDDEN_COLON}`));
  const transposed = orMalformed("tune", () => {
    const moved = abcjs.strTranspose(hidden, abcjs.parseOnly(hidden), semitones);
    return respell(hidden, moved, semitones);
  });
  return transposed.replaceAll(HIDDEN_COLON, ":");
}

/** abcjs leaves some notations alone; a tune that sounds wrong is not an answer. */
function checkPitches(before: OpenTune, after: OpenTune, semitones: number): void {
  const was = pitchesOf(before);
  const is = pitchesOf(after);
  const wrong = was.findIndex((pitch, n) => is[n] !== pitch + semitones);
  if (wrong < 0 && was.length === is.length) return;
  throw new ToolError("UNSUPPORTED", `tune '${before.title}' has a notation that cannot be transposed`, {
    what: `note ${wrong + 1} of the tune`,
    how: "write the tune in plain notes, without percussion, bagpipe keys or transposing clefs",
  });
}

/** Sorted by time, so that equal tunes give equal lists. */
const pitchesOf = (tune: OpenTune): number[] => readMidi(toMidi(tune)).notes.map(({ pitch }) => pitch);
